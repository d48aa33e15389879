import { sha256Hex } from '../../crypto'
import { isStorageFull } from '../errors'
import type { Beat } from '../series'
import { hourMs, inTenths, type ChunkKey, type PackedChunk } from './chunk'
import type { Engine, Row, Statements } from './engine'
import { Roll } from './roll'
import { createBeats, createChunks } from './schema'

/** Where a hub keeps its series. */
export interface SeriesPlace {
  data: string
  databaseUrl: string | null
  /** Milliseconds UTC, for names of files that are moved aside. */
  now(): number
}

/** An hour of one monitor and location, as it is stored. `phases` is null where it is no longer kept. */
export interface StoredChunk extends ChunkKey {
  body: Uint8Array
  phases: Uint8Array | null
}

/** What came of an hour or a day (its number since 1970, UTC) of one monitor and location. */
export interface StoredRoll {
  monitor: number
  location: number
  at: number
  roll: Roll
}

export type Span = 'hour' | 'day'

export const hoursADay = 24
const beatsAtOnce = 5_000

/**
 * Beats as they come, a table an hour; the chunks that become of them, a table a day; and what came of each hour and day. What is past
 * its time is dropped with its table. Numbers of hours and days count from 1970, UTC.
 */
export class SeriesStore {
  private readonly made = new Set<string>()
  private fullAt = Number.NEGATIVE_INFINITY

  constructor(private readonly engine: Engine) {}

  /** Writes beats down, all or none of them. */
  async append(beats: readonly Beat[]): Promise<void> {
    const byHour = Map.groupBy(beats, beat => hourOf(beat.at))
    await this.write(async within => {
      for (const [hour, own] of byHour) {
        const table = beatTable(hour)
        await this.make(table, () => createBeats(this.engine, within, table))
        await within.each(
          `insert into ${table}(monitor, location, at, status, ms, code, error, dns, connect, tls, first_byte) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          own.map(beat => [
            beat.monitor,
            beat.location,
            beat.at,
            statuses.indexOf(beat.status),
            tenths(beat.ms),
            beat.code,
            beat.error,
            tenths(beat.dns),
            tenths(beat.connect),
            tenths(beat.tls),
            tenths(beat.firstByte),
          ]),
        )
      }
    })
  }

  /** Whether several hubs write to it. Then the beats of one monitor are found without reading those of all. */
  get isShared(): boolean {
    return this.engine.isShared
  }

  /** Hours of which beats are there as they came. */
  async beatHours(): Promise<number[]> {
    return (await this.engine.tables(beatPrefix)).map(name => Number(name.slice(beatPrefix.length))).sort((a, b) => a - b)
  }

  /** The beats of an hour as they came, of all monitors or of some, a few thousand at a time. */
  async *beatsOf(hour: number, monitors: ReadonlySet<number> | null): AsyncGenerator<Beat[]> {
    if (this.engine.isShared && monitors) yield* this.foundBeats(hour, monitors)
    else yield* this.walkedBeats(hour, monitors)
  }

  /** The beats of some monitors of an hour that came after a moment (ms UTC), oldest first, where several hubs write them. */
  async beatsAfter(hour: number, monitors: readonly number[], after: number): Promise<Beat[]> {
    if (!this.engine.isShared || monitors.length === 0 || !(await this.beatHours()).includes(hour)) return []
    const statements = await this.engine.statements()
    const rows = await statements.all<BeatRow>(
      `select * from ${beatTable(hour)} where ${this.engine.among('monitor')} and at > ? order by at`,
      [JSON.stringify(monitors), after],
    )
    return rows.map(beatOf)
  }

  /** Writes hours down with what came of them, in place of what was there. */
  async putHours(hours: readonly (ChunkKey & PackedChunk & { roll: Roll })[]): Promise<void> {
    await this.write(async within => {
      for (const [day, own] of Map.groupBy(hours, one => dayOfHour(one.hour))) {
        for (const [table, octets] of [
          [chunkTable(day), 'body'],
          [phaseTable(day), 'phases'],
        ] as const) {
          await this.make(table, () => createChunks(this.engine, within, table))
          await within.each(
            `insert into ${table}(monitor, hour, location, body) values (?, ?, ?, ?) on conflict (monitor, hour, location) do update set body = excluded.body`,
            own.map(one => [one.monitor, one.hour, one.location, one[octets]]),
          )
        }
      }
      await putRolls(
        within,
        'hour',
        hours.map(one => ({ ...one, at: one.hour })),
      )
    })
  }

  putDays(days: readonly StoredRoll[]): Promise<void> {
    return this.write(within => putRolls(within, 'day', days))
  }

  /** The chunks of one monitor, those of hours from `from` up to but not including `until`, which lie in one day. */
  async chunks(monitor: number, from: number, until: number): Promise<StoredChunk[]> {
    return await this.readChunks(dayOfHour(from), 'monitor = ? and hour >= ? and hour < ?', [monitor, from, until])
  }

  /** The chunks of some monitors of one hour. */
  async chunksOfHour(monitors: readonly number[], hour: number): Promise<StoredChunk[]> {
    return await this.readChunks(dayOfHour(hour), `${this.engine.among('monitor')} and hour = ?`, [
      JSON.stringify(monitors),
      hour,
    ])
  }

  /** Days of which chunks are there. */
  async chunkDays(): Promise<number[]> {
    return (await this.engine.tables(chunkPrefix)).map(name => Number(name.slice(chunkPrefix.length))).sort((a, b) => a - b)
  }

  /** What came of the hours or days from `from` up to but not including `until`, in their order. */
  async rolls(span: Span, monitors: readonly number[], from: number, until: number): Promise<StoredRoll[]> {
    const statements = await this.engine.statements()
    const rows = await statements.all<{ monitor: number; location: number; at: number; body: Uint8Array }>(
      `select monitor, location, at, body from ${rollTables[span]} where ${this.engine.among('monitor')} and at >= ? and at < ? order by monitor, at, location`,
      [JSON.stringify(monitors), from, until],
    )
    return rows.map(({ body, ...row }) => ({ ...row, roll: Roll.read(body) }))
  }

  /** Some monitors that have chunks in a day, in the order of their numbers, above `after`. */
  async monitorsOfDay(day: number, after: number, most: number): Promise<number[]> {
    if (!(await this.chunkDays()).includes(day)) return []
    return await this.monitorsOf(chunkTable(day), after, most)
  }

  /** Some monitors of which days are kept, as {@link monitorsOfDay}. */
  monitorsWithDays(after: number, most: number): Promise<number[]> {
    return this.monitorsOf(rollTables.day, after, most)
  }

  /** Writes texts down, each once, by their numbers. @param day on which they are used */
  async putTexts(texts: readonly string[], day: number): Promise<void> {
    await this.write(within =>
      within.each(
        'insert into series_texts(number, text, used_day) values (?, ?, ?) on conflict (number) do update set used_day = excluded.used_day',
        // Hubs that write the same ones in different orders would wait for each other.
        [...new Map(texts.map(text => [textNumber(text), text]))]
          .sort(([a], [b]) => a - b)
          .map(([number, text]) => [number, text, day]),
      ),
    )
  }

  /** Texts by their numbers. */
  async texts(numbers: readonly number[]): Promise<Map<number, string>> {
    if (numbers.length === 0) return new Map()
    const statements = await this.engine.statements()
    const rows = await statements.all<{ number: number; text: string }>(
      `select number, text from series_texts where ${this.engine.among('number')}`,
      [JSON.stringify(numbers)],
    )
    return new Map(rows.map(row => [row.number, row.text]))
  }

  /** Drops the tables of what lies before: beats by the hour, chunks and their phases by the day. Null keeps them. */
  async dropBefore(before: { beats?: number; chunks?: number | null; phases?: number }): Promise<void> {
    for (const [prefix, first] of [
      [beatPrefix, before.beats],
      [chunkPrefix, before.chunks],
      [phasePrefix, before.phases],
    ] as const) {
      if (first === undefined || first === null) continue
      for (const table of await this.engine.tables(prefix)) {
        if (Number(table.slice(prefix.length)) >= first) continue
        this.made.delete(table)
        await this.write(within => within.run(`drop table if exists ${table}`))
      }
    }
  }

  /** Deletes the chunks of some monitors in the days before. */
  async deleteChunks(monitors: readonly number[], before: number): Promise<void> {
    for (const day of await this.chunkDays()) if (day < before) await this.deleteFrom(chunkTable(day), monitors)
  }

  /** Deletes what came of hours before, of some monitors. */
  async deleteHours(monitors: readonly number[], before: number): Promise<void> {
    await this.write(within =>
      within.run(`delete from ${rollTables.hour} where ${this.engine.among('monitor')} and at < ?`, [
        JSON.stringify(monitors),
        before,
      ]),
    )
  }

  /** Deletes texts that nothing has used since before a day. */
  async deleteTexts(before: number): Promise<void> {
    await this.write(within => within.run('delete from series_texts where used_day < ?', [before]))
  }

  /** Deletes all there is of a monitor but its beats as they came, which go with their hour. A day at a time, each a short transaction. */
  async *forget(monitor: number): AsyncGenerator<void> {
    for (const table of [...(await this.engine.tables(chunkPrefix)), ...(await this.engine.tables(phasePrefix))]) {
      await this.deleteFrom(table, [monitor])
      yield
    }
    for (const table of Object.values(rollTables)) {
      await this.deleteFrom(table, [monitor])
      yield
    }
  }

  /** A number that is kept by name; null when there is none. */
  async fact(name: string): Promise<number | null> {
    const rows = await (
      await this.engine.statements()
    ).all<{ value: number }>('select value from series_facts where name = ?', [name])
    return rows[0]?.value ?? null
  }

  async putFact(name: string, value: number): Promise<void> {
    await this.write(within =>
      within.run('insert into series_facts(name, value) values (?, ?) on conflict (name) do update set value = excluded.value', [
        name,
        value,
      ]),
    )
  }

  /** Whether a write found no room on the disk, and none has gone through since. */
  isFull(): boolean {
    return performance.now() - this.fullAt < fullForMs
  }

  size(): Promise<number | null> {
    return this.engine.size()
  }

  tidy(): Promise<void> {
    return this.engine.tidy()
  }

  movedAside(): string | null {
    const aside = this.engine.movedAside()
    if (aside) this.made.clear()
    return aside
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  private async write<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    try {
      const result = await this.engine.allOrNone(fn)
      this.fullAt = Number.NEGATIVE_INFINITY
      return result
    } catch (error) {
      if (isStorageFull(error)) this.fullAt = performance.now()
      // What was made may have been undone with it, or be gone with its file.
      this.made.clear()
      throw error
    }
  }

  private async make(table: string, create: () => Promise<void>): Promise<void> {
    if (this.made.has(table)) return
    await create()
    this.made.add(table)
  }

  private async readChunks(day: number, where: string, values: readonly (number | string)[]): Promise<StoredChunk[]> {
    const tables = await this.engine.tables('series_')
    if (!tables.includes(chunkTable(day))) return []
    const statements = await this.engine.statements()
    const read = (table: string) =>
      statements.all<{ monitor: number; hour: number; location: number; body: Uint8Array }>(
        `select monitor, hour, location, body from ${table} where ${where} order by hour, location`,
        values,
      )
    const phases = tables.includes(phaseTable(day))
      ? new Map((await read(phaseTable(day))).map(row => [keyText(row), row.body]))
      : null
    return (await read(chunkTable(day))).map(row => ({ ...row, phases: phases?.get(keyText(row)) ?? null }))
  }

  private async *foundBeats(hour: number, monitors: ReadonlySet<number>): AsyncGenerator<Beat[]> {
    if (!(await this.beatHours()).includes(hour)) return
    const statements = await this.engine.statements()
    const all = [...monitors]
    for (let from = 0; from < all.length; from += 40) {
      yield (
        await statements.all<BeatRow>(
          `select * from ${beatTable(hour)} where ${this.engine.among('monitor')} order by monitor, at`,
          [JSON.stringify(all.slice(from, from + 40))],
        )
      ).map(beatOf)
    }
  }

  private async *walkedBeats(hour: number, monitors: ReadonlySet<number> | null): AsyncGenerator<Beat[]> {
    if (!(await this.beatHours()).includes(hour)) return
    const statements = await this.engine.statements()
    if (this.engine.isShared) {
      for (let after: [number, number, number] = [-1, 0, 0]; ;) {
        const rows = await statements.all<BeatRow>(
          `select * from ${beatTable(hour)} where (monitor, at, location) > (?, ?, ?) order by monitor, at, location limit ?`,
          [...after, beatsAtOnce],
        )
        yield rows.map(beatOf)
        const last = rows.at(-1)
        if (rows.length < beatsAtOnce || !last) return
        after = [last.monitor, last.at, last.location]
      }
    }
    for (let after = 0; ;) {
      const rows = await statements.all<BeatRow & { place: number }>(
        `select rowid as place, * from ${beatTable(hour)} where rowid > ? order by rowid limit ?`,
        [after, beatsAtOnce],
      )
      yield rows.filter(row => monitors === null || monitors.has(row.monitor)).map(beatOf)
      if (rows.length < beatsAtOnce) return
      after = rows.at(-1)!.place
    }
  }

  private async monitorsOf(table: string, after: number, most: number): Promise<number[]> {
    const statements = await this.engine.statements()
    const found: number[] = []
    // One step of the index each: a distinct list would read all rows.
    while (found.length < most) {
      const [row] = await statements.all<{ next: number | null }>(`select min(monitor) as next from ${table} where monitor > ?`, [
        found.at(-1) ?? after,
      ])
      if (row?.next == null) break
      found.push(Number(row.next))
    }
    return found
  }

  private deleteFrom(table: string, monitors: readonly number[]): Promise<void> {
    return this.write(within =>
      within.run(`delete from ${table} where ${this.engine.among('monitor')}`, [JSON.stringify(monitors)]),
    )
  }
}

/** The number that stands for a text: 48 bits of its SHA-256, the same in every file and every hub. */
export const textNumber = (text: string): number => Number.parseInt(sha256Hex(text).slice(0, 12), 16)

export const hourOf = (at: number): number => Math.floor(at / hourMs)
export const dayOfHour = (hour: number): number => Math.floor(hour / hoursADay)

interface BeatRow extends Row {
  monitor: number
  location: number
  at: number
  status: number
  ms: number | null
  code: number | null
  error: number | null
  dns: number | null
  connect: number | null
  tls: number | null
  first_byte: number | null
}

const statuses = ['up', 'degraded', 'down'] as const
const rollTables = { hour: 'series_hours', day: 'series_days' } as const
const beatPrefix = 'series_beats_'
const chunkPrefix = 'series_chunks_'
const phasePrefix = 'series_phases_'
const beatTable = (hour: number): string => `${beatPrefix}${hour}`
const chunkTable = (day: number): string => `${chunkPrefix}${day}`
const phaseTable = (day: number): string => `${phasePrefix}${day}`

// A hub writes beats once a second.
const fullForMs = 3000

const tenths = (ms: number | null): number | null => (ms === null ? null : inTenths(ms))
const fromTenths = (value: number | null): number | null => (value === null ? null : value / 10)
const keyText = (row: { monitor: number; hour: number; location: number }): string => `${row.monitor} ${row.hour} ${row.location}`

const beatOf = (row: BeatRow): Beat => ({
  monitor: row.monitor,
  location: row.location,
  at: row.at,
  status: statuses[row.status]!,
  ms: fromTenths(row.ms),
  code: row.code,
  error: row.error,
  dns: fromTenths(row.dns),
  connect: fromTenths(row.connect),
  tls: fromTenths(row.tls),
  firstByte: fromTenths(row.first_byte),
})

const putRolls = (within: Statements, span: Span, rolls: readonly StoredRoll[]): Promise<void> =>
  within.each(
    `insert into ${rollTables[span]}(monitor, at, location, body) values (?, ?, ?, ?) on conflict (monitor, at, location) do update set body = excluded.body`,
    rolls.map(one => [one.monitor, one.at, one.location, one.roll.packed()]),
  )
