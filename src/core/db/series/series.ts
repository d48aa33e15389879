import { sha256Hex } from '../../crypto'
import type { ChunkKey, PackedChunk } from './chunk'
import type { Engine, Row, Statements } from './engine'
import { dayOfHour, hourOf } from './hours'
import { storedValue, valueOf, type AnySample, type Sample, type SeriesKind } from './kind'
import { Rollup } from './rollup'
import { createChunks, createRows, tablesOf } from './schema'

/** An hour of a part of a series as stored. `details` is null if they were deleted. */
export interface StoredChunk extends ChunkKey {
  body: Uint8Array
  details: Uint8Array | null
}

/** The summary of an hour or day (its number since 1970, UTC) of a part of a series. */
export interface StoredRollup<K extends SeriesKind> {
  series: number
  part: number
  at: number
  roll: Rollup<K>
}

type Span = 'hour' | 'day'
type Write = <T>(fn: (within: Statements) => Promise<T>) => Promise<T>

const rowsPerQuery = 5_000

/**
 * The series of one kind. Stores unpacked rows in one table per hour, the chunks they are packed into in one table per day, and
 * summaries of hours and days. Expired data is deleted by dropping its table. Hours and days are numbered from 1970, UTC.
 */
export class Series<K extends SeriesKind> {
  private readonly tables: ReturnType<typeof tablesOf>
  private readonly insert: string

  /** @param createdTables tables that exist for certain */
  constructor(
    private readonly kind: K,
    private readonly engine: Engine,
    private readonly write: Write,
    private readonly createdTables: Set<string>,
  ) {
    this.tables = tablesOf(kind)
    const names = ['series', 'part', 'at', ...kind.stored.all.map(one => `"${one.name}"`)]
    this.insert = `(${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
  }

  /** Stores rows in one transaction. */
  async append(samples: readonly Sample<K>[]): Promise<void> {
    const byHour = Map.groupBy(samples, sample => hourOf(sample.at))
    await this.write(async within => {
      for (const [hour, own] of byHour) {
        const table = this.tables.rows + hour
        await this.ensureTable(table, () => createRows(this.engine, within, this.kind, table))
        await within.each(
          `insert into ${table}${this.insert}`,
          own.map(one => [
            one.series,
            one.part,
            one.at,
            ...this.kind.stored.all.map(column => storedValue(one as AnySample, column)),
          ]),
        )
      }
    })
  }

  /** Hours with unpacked rows. */
  hours(): Promise<number[]> {
    return this.numbered(this.tables.rows)
  }

  /** Reads the unpacked rows of an hour, of all series or some, a few thousand at a time. */
  async *rowsOf(hour: number, series: ReadonlySet<number> | null): AsyncGenerator<Sample<K>[]> {
    if (!(await this.hours()).includes(hour)) return
    if (this.engine.isShared && series) yield* this.indexedRows(hour, series)
    else yield* this.scannedRows(hour, series)
  }

  /**
   * Reads the unpacked rows of some series in an hour after a time (ms UTC), oldest first. Only if several hubs write to it.
   */
  async rowsAfter(hour: number, series: readonly number[], after: number): Promise<Sample<K>[]> {
    if (!this.engine.isShared || series.length === 0 || !(await this.hours()).includes(hour)) return []
    const statements = await this.engine.statements()
    const rows = await statements.all<SampleRow>(
      `select * from ${this.tables.rows}${hour} where ${this.engine.isOneOf('series')} and at > ? order by at`,
      [JSON.stringify(series), after],
    )
    return rows.map(row => this.sampleOf(row))
  }

  /** Stores packed hours with their summaries, replacing existing ones. */
  async putHours(hours: readonly (ChunkKey & PackedChunk & { roll: Rollup<K> })[]): Promise<void> {
    await this.write(async within => {
      for (const [day, own] of Map.groupBy(hours, one => dayOfHour(one.hour))) {
        for (const [table, column] of [
          [this.tables.chunks + day, 'body'],
          [this.tables.details + day, 'details'],
        ] as const) {
          if (column === 'details' && this.kind.stored.details.length === 0) continue
          await this.ensureTable(table, () => createChunks(this.engine, within, table))
          await within.each(
            `insert into ${table}(series, hour, part, body) values (?, ?, ?, ?) on conflict (series, hour, part) do update set body = excluded.body`,
            own.map(one => [one.series, one.hour, one.part, one[column]]),
          )
        }
      }
      await this.putRolls(
        within,
        'hour',
        hours.map(one => ({ ...one, at: one.hour })),
      )
    })
  }

  putDays(days: readonly StoredRollup<K>[]): Promise<void> {
    return this.write(within => this.putRolls(within, 'day', days))
  }

  /** Reads the chunks of one series with `from <= hour < until`. All hours must be in one day. */
  async chunks(series: number, from: number, until: number): Promise<StoredChunk[]> {
    return await this.readChunks(dayOfHour(from), 'series = ? and hour >= ? and hour < ?', [series, from, until])
  }

  /** Reads the chunks of some series in one hour. */
  async chunksOfHour(series: readonly number[], hour: number): Promise<StoredChunk[]> {
    return await this.readChunks(dayOfHour(hour), `${this.engine.isOneOf('series')} and hour = ?`, [JSON.stringify(series), hour])
  }

  /** Days with chunks. */
  chunkDays(): Promise<number[]> {
    return this.numbered(this.tables.chunks)
  }

  /** Reads the summaries of hours or days with `from <= at < until`, in order. */
  async rollups(span: Span, series: readonly number[], from: number, until: number): Promise<StoredRollup<K>[]> {
    const statements = await this.engine.statements()
    const rows = await statements.all<{ series: number; part: number; at: number; body: Uint8Array }>(
      `select series, part, at, body from ${this.tables[span]} where ${this.engine.isOneOf('series')} and at >= ? and at < ? order by series, at, part`,
      [JSON.stringify(series), from, until],
    )
    return rows.map(({ body, ...row }) => ({ ...row, roll: Rollup.read(this.kind, body) }))
  }

  /** Lists up to `max` series with chunks in a day, by number, greater than `after`. */
  async seriesOfDay(day: number, after: number, max: number): Promise<number[]> {
    if (!(await this.chunkDays()).includes(day)) return []
    return await this.seriesIn(this.tables.chunks + day, after, max)
  }

  /** Like {@link seriesOfDay}, for series with daily summaries. */
  seriesWithDays(after: number, max: number): Promise<number[]> {
    return this.seriesIn(this.tables.day, after, max)
  }

  /** Stores texts by number. @param day on which they are used */
  async putTexts(texts: readonly string[], day: number): Promise<void> {
    await this.write(within =>
      within.each(
        `insert into ${this.tables.texts}(number, text, used_day) values (?, ?, ?) on conflict (number) do update set used_day = excluded.used_day`,
        // A fixed order avoids deadlocks between hubs.
        [...new Map(texts.map(text => [textNumber(text), text]))]
          .sort(([a], [b]) => a - b)
          .map(([number, text]) => [number, text, day]),
      ),
    )
  }

  /** Reads texts by number. */
  async texts(numbers: readonly number[]): Promise<Map<number, string>> {
    if (numbers.length === 0) return new Map()
    const statements = await this.engine.statements()
    const rows = await statements.all<{ number: number; text: string }>(
      `select number, text from ${this.tables.texts} where ${this.engine.isOneOf('number')}`,
      [JSON.stringify(numbers)],
    )
    return new Map(rows.map(row => [row.number, row.text]))
  }

  /** Drops tables before an hour (rows) or a day (chunks and details). Null keeps them. */
  async dropBefore(before: { rows?: number; chunks?: number | null; details?: number }): Promise<void> {
    for (const name of ['rows', 'chunks', 'details'] as const) {
      const first = before[name]
      if (first === undefined || first === null) continue
      for (const number of await this.numbered(this.tables[name])) {
        if (number >= first) break
        const table = this.tables[name] + number
        this.createdTables.delete(table)
        await this.write(within => within.run(`drop table if exists ${table}`))
      }
    }
  }

  /** Deletes the chunks of some series before a day. */
  async deleteChunks(series: readonly number[], before: number): Promise<void> {
    for (const day of await this.chunkDays()) if (day < before) await this.deleteFrom(this.tables.chunks + day, series)
  }

  /** Deletes the hourly summaries of some series before an hour. */
  async deleteHours(series: readonly number[], before: number): Promise<void> {
    await this.write(within =>
      within.run(`delete from ${this.tables.hour} where ${this.engine.isOneOf('series')} and at < ?`, [
        JSON.stringify(series),
        before,
      ]),
    )
  }

  /** Deletes texts last used before a day. */
  async deleteTexts(before: number): Promise<void> {
    await this.write(within => within.run(`delete from ${this.tables.texts} where used_day < ?`, [before]))
  }

  /**
   * Deletes all data of a series except unpacked rows, which are dropped with their hour. Uses short transactions, one per day.
   */
  async *delete(series: number): AsyncGenerator<void> {
    const { chunks, details, hour, day } = this.tables
    for (const table of [...(await this.engine.tables(chunks)), ...(await this.engine.tables(details)), hour, day]) {
      await this.deleteFrom(table, [series])
      yield
    }
  }

  /** Converts a row in place, because copying thousands of them takes longer than reading them. */
  private sampleOf(row: SampleRow): Sample<K> {
    const { all } = this.kind.stored
    for (let index = 0; index < all.length; index++) {
      const column = all[index]!
      row[column.name] = valueOf(column, row[column.name] as number | null)
    }
    return row as unknown as Sample<K>
  }

  private putRolls(within: Statements, span: Span, rolls: readonly StoredRollup<K>[]): Promise<void> {
    return within.each(
      `insert into ${this.tables[span]}(series, at, part, body) values (?, ?, ?, ?) on conflict (series, at, part) do update set body = excluded.body`,
      rolls.map(one => [one.series, one.at, one.part, one.roll.packed()]),
    )
  }

  /** The numbers of the hours or days that have a table with this prefix, in order. */
  private async numbered(prefix: string): Promise<number[]> {
    return (await this.engine.tables(prefix)).map(name => Number(name.slice(prefix.length))).sort((a, b) => a - b)
  }

  private async ensureTable(table: string, create: () => Promise<void>): Promise<void> {
    if (this.createdTables.has(table)) return
    await create()
    this.createdTables.add(table)
  }

  private async readChunks(day: number, where: string, values: readonly (number | string)[]): Promise<StoredChunk[]> {
    const [chunkTable, detailTable] = [this.tables.chunks + day, this.tables.details + day]
    const tables = await this.engine.tables(this.tables.all)
    if (!tables.includes(chunkTable)) return []
    const statements = await this.engine.statements()
    const read = (table: string) =>
      statements.all<{ series: number; hour: number; part: number; body: Uint8Array }>(
        `select series, hour, part, body from ${table} where ${where} order by hour, part`,
        values,
      )
    const details = tables.includes(detailTable) ? new Map((await read(detailTable)).map(row => [keyText(row), row.body])) : null
    return (await read(chunkTable)).map(row => ({ ...row, details: details?.get(keyText(row)) ?? null }))
  }

  private async *indexedRows(hour: number, series: ReadonlySet<number>): AsyncGenerator<Sample<K>[]> {
    const statements = await this.engine.statements()
    const all = [...series]
    for (let from = 0; from < all.length; from += 40) {
      yield (
        await statements.all<SampleRow>(
          `select * from ${this.tables.rows}${hour} where ${this.engine.isOneOf('series')} order by series, at`,
          [JSON.stringify(all.slice(from, from + 40))],
        )
      ).map(row => this.sampleOf(row))
    }
  }

  private async *scannedRows(hour: number, series: ReadonlySet<number> | null): AsyncGenerator<Sample<K>[]> {
    const table = this.tables.rows + hour
    const statements = await this.engine.statements()
    if (this.engine.isShared) {
      for (let after: [number, number, number] = [-1, 0, 0]; ;) {
        const rows = await statements.all<SampleRow>(
          `select * from ${table} where (series, at, part) > (?, ?, ?) order by series, at, part limit ?`,
          [...after, rowsPerQuery],
        )
        yield rows.map(row => this.sampleOf(row))
        const last = rows.at(-1)
        if (rows.length < rowsPerQuery || !last) return
        after = [last.series, last.at, last.part]
      }
    }
    // Rows are only appended, so their numbers are consecutive.
    for (let after = 0; ;) {
      const rows = await statements.all<SampleRow>(`select * from ${table} where rowid > ? order by rowid limit ?`, [
        after,
        rowsPerQuery,
      ])
      yield rows.filter(row => series === null || series.has(row.series)).map(row => this.sampleOf(row))
      if (rows.length < rowsPerQuery) return
      after += rows.length
    }
  }

  private async seriesIn(table: string, after: number, max: number): Promise<number[]> {
    const statements = await this.engine.statements()
    const found: number[] = []
    // Skip through the index: `select distinct` would read all rows.
    while (found.length < max) {
      const [row] = await statements.all<{ next: number | null }>(`select min(series) as next from ${table} where series > ?`, [
        found.at(-1) ?? after,
      ])
      if (row?.next == null) break
      found.push(Number(row.next))
    }
    return found
  }

  private deleteFrom(table: string, series: readonly number[]): Promise<void> {
    return this.write(within =>
      within.run(`delete from ${table} where ${this.engine.isOneOf('series')}`, [JSON.stringify(series)]),
    )
  }
}

/** The number of a text: 48 bits of its SHA-256, the same in all files and hubs. */
export const textNumber = (text: string): number => Number.parseInt(sha256Hex(text).slice(0, 12), 16)

interface SampleRow extends Row {
  series: number
  part: number
  at: number
}

const keyText = (row: { series: number; hour: number; part: number }): string => `${row.series} ${row.part} ${row.hour}`
