import { randomUUID } from 'node:crypto'
import { isTurnOver, yieldToEventLoop } from '../../time-slices'
import type { Engine, Statements } from './engine'
import { JoinedWrites } from './joined-writes'
import { meanOf, visitRow, WantedColumns, type ReadRow, type Take } from './metric-columns'
import { packMinute, type MetricMinute, type PackedMinute } from './metric-minute'
import { packRow, type Mean } from './metric-row'
import { keptSince, tableNumberOf, tiers, type Tier } from './metric-tiers'
import { createMetricRows, metricTables } from './schema'

type Visit = (at: number, column: string, avg: number, max: number, n: number) => void
type Write = <T>(fn: (within: Statements) => Promise<T>) => Promise<T>

interface StoredRow {
  [column: string]: number | Uint8Array
  subject: number
  at: number
  layout: number
  body: Uint8Array
}

// Each batch blocks the event loop for a few milliseconds.
const rowsPerWrite = 200
const subjectsPerRead = 50
const numbersPerRead = 500
/** More are not computed for a period: devices can come and go each minute. */
const maxColumns = 1_000
// In memory. Those of 300 columns have about 10 KB.
const maxLayouts = 2_000
/** Minutes are computed into coarser rows each minute. Those that are older when they are stored could be missed after a restart. */
const lateMs = 120_000
/** Facts up to which minute each process has computed the coarser rows of what it stored. */
const rolledFacts = 'metrics_rolled_at '
/** Facts of other processes that are older are of those that no longer run. */
const endedMs = 600_000
const [minutes] = tiers

/**
 * Measurements with columns that differ from subject to subject: by the minute, and in coarser tiers that are computed from those. A row
 * has the number of its subject, of its period, and of its layout, which is a list of columns that is stored once.
 */
export class MetricSeries {
  private readonly subjects = new Map<string, number>()
  private readonly layouts = new Map<string, number>()
  private readonly layoutsByNumber = new Map<number, string[]>()
  private generation = 0
  /** For each tier, the periods that have to be computed again, with their subjects. */
  private touched = tiers.map(() => new Map<number, Set<number>>())
  private isRecovered = false
  private readonly rolledFact = rolledFacts + randomUUID()
  /** The oldest minutes that are being stored, and the oldest one that was stored since the last computation began (ms UTC). */
  private readonly storing = new Set<{ at: number }>()
  private storedSince = Infinity
  private readonly minutes = new JoinedWrites<PackedMinute>(some => this.store(some), rowsPerWrite)

  /** @param createdTables tables that exist for certain */
  constructor(
    private readonly engine: Engine,
    private readonly writeThrough: Write,
    private readonly createdTables: Set<string>,
  ) {}

  /**
   * Stores minutes, replacing existing ones. Minutes that are no longer kept are ignored, and so are values that are not
   * {@link isStorable | storable}.
   * @param now ms UTC
   */
  async append(given: readonly MetricMinute[], now: number): Promise<void> {
    const oldest = keptSince(minutes, now, null)
    const packed = given.flatMap(one => (one.at < oldest ? [] : packMinute(one, now)))
    for (let from = 0; from < packed.length; from += rowsPerWrite) {
      await this.minutes.add(packed.slice(from, from + rowsPerWrite))
      if (from + rowsPerWrite < packed.length) await yieldToEventLoop()
    }
  }

  private async store(some: readonly PackedMinute[]): Promise<void> {
    const begun = { at: Math.min(...some.map(one => one.at)) * minutes.stepMs }
    this.storing.add(begun)
    const stored = await this.write(async within => {
      const numbered: StoredRow[] = []
      for (const { subject, at, columns, body } of some)
        numbered.push({
          subject: await this.numberOf(within, metricTables.subjects, this.subjects, subject),
          layout: await this.layoutOf(within, columns),
          ...{ at, body },
        })
      await this.put(within, minutes, numbered)
      await this.noteLate(within, begun.at, Math.max(...some.map(one => one.now)))
      return numbered
    }).finally(() => this.storing.delete(begun))
    this.storedSince = Math.min(this.storedSince, begun.at)
    for (const { subject, at } of stored) this.touch(1, at * minutes.stepMs, subject)
  }

  /** Computes the coarser rows of everything that was stored since the last call. @param now ms UTC */
  async rollUp(now: number): Promise<void> {
    const recovered = this.isRecovered ? [] : await this.recover()
    this.isRecovered = true
    if (this.touched.every(one => one.size === 0)) return
    this.storedSince = Infinity
    for (let level = 1; level < tiers.length; level++) {
      const periods = this.touched[level]!
      this.touched[level] = new Map()
      for (const [place, subjects] of periods) {
        try {
          await this.rollPeriod(level, place, [...subjects])
        } catch (error) {
          for (const [other, left] of periods) for (const one of left) this.touch(level, other * tiers[level]!.stepMs, one)
          throw error
        }
        periods.delete(place)
      }
    }
    await this.write(async within => {
      // Late minutes that are being stored are committed first, or wait.
      await within.run('update series_facts set value = value where name = ?', [this.rolledFact])
      const rolledAt = Math.min(now - minutes.stepMs, this.storedSince, ...this.storing.values().map(one => one.at))
      await within.run(
        'insert into series_facts(name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
        [this.rolledFact, rolledAt],
      )
      for (const { name, value } of recovered)
        if (value < now - endedMs) await within.run('delete from series_facts where name = ? and value = ?', [name, value])
    })
  }

  /**
   * Reads the rows of a subject that start between two times (ms UTC).
   * @param visit called for each value, in order of time
   */
  async read(subject: string, tier: Tier, from: number, until: number, visit: Visit): Promise<void> {
    const take: Take<string> = (column, at, ...value) => visit(at, column, ...value)
    await this.readColumns(subject, tier, from, until, column => column, take)
  }

  /** Like {@link read}, for some columns. @param columnOf returns what `take` gets for a column; null to skip it */
  async readColumns<T>(
    subject: string,
    tier: Tier,
    from: number,
    until: number,
    columnOf: (column: string) => T | null,
    take: Take<T>,
  ): Promise<void> {
    const number = await this.knownNumber(subject)
    if (number === null) return
    const [first, end] = [Math.ceil(from / tier.stepMs), Math.ceil(until / tier.stepMs)]
    const wanted = new WantedColumns(columnOf)
    for (const table of await this.tablesWith(tier, first, end - 1)) {
      const statements = await this.engine.statements()
      const rows = await statements.all<StoredRow>(
        `select at, layout, body from ${table} where subject = ? and at >= ? and at < ? order by at`,
        [number, first, end],
      )
      for (const row of await this.withColumns(rows)) {
        const { places, values } = wanted.in(row.columns)
        const at = row.at * tier.stepMs
        visitRow(row, places, (place, avg, max, n) => take(values[place]!, at, avg, max, n))
      }
      if (isTurnOver()) await yieldToEventLoop()
    }
  }

  /**
   * Averages over the rows of several subjects since a time (ms UTC), and the time of the last row of each.
   * @param isWanted whether a column is read
   */
  async summaries(
    subjects: readonly string[],
    tier: Tier,
    from: number,
    until: number,
    isWanted: (column: string) => boolean = () => true,
  ): Promise<Map<string, { at: number; columns: Map<string, Mean> }>> {
    const bySubject = new Map<string, { at: number; columns: Map<string, Mean> }>()
    const names = new Map([...(await this.numbersOf(subjects))].map(([subject, number]) => [number, subject]))
    const numbers = [...names.keys()]
    const wanted = new WantedColumns(column => (isWanted(column) ? column : null))
    const [first, end] = [Math.ceil(from / tier.stepMs), Math.ceil(until / tier.stepMs)]
    for (let place = 0; place < numbers.length; place += subjectsPerRead) {
      if (place > 0) await yieldToEventLoop()
      for (const row of await this.rowsOf(tier, numbers.slice(place, place + subjectsPerRead), first, end)) {
        const subject = names.get(row.subject)!
        const found = bySubject.get(subject) ?? { at: 0, columns: new Map<string, Mean>() }
        bySubject.set(subject, found)
        found.at = row.at * tier.stepMs
        const { places, values } = wanted.in(row.columns)
        visitRow(row, places, (place, avg, max, n) => meanOf(found.columns, values[place]!).add(avg, max, n))
      }
    }
    return bySubject
  }

  /** When the last minute of a subject was stored (ms UTC), as far as minutes are kept; null if never. */
  async lastAt(subject: string): Promise<number | null> {
    const number = await this.knownNumber(subject)
    if (number === null) return null
    for (const table of (await this.tablesOf(minutes)).reverse()) {
      const statements = await this.engine.statements()
      const [row] = await statements.all<{ at: number | null }>(`select max(at) as at from ${table} where subject = ?`, [number])
      if (row?.at != null) return row.at * minutes.stepMs
    }
    return null
  }

  /** Lists up to `max` subjects with a number greater than `after`. */
  async listSubjects(after: number, max: number): Promise<{ number: number; text: string }[]> {
    const statements = await this.engine.statements()
    return await statements.all(`select number, text from ${metricTables.subjects} where number > ? order by number limit ?`, [
      after,
      max,
    ])
  }

  /** Drops tables that are older than is kept. @param days the longest retention of all plans; null for no limit */
  async dropExpired(now: number, days: number | null): Promise<void> {
    for (const tier of tiers) {
      const first = tableNumberOf(tier, Math.floor(keptSince(tier, now, days) / tier.stepMs))
      for (const table of await this.tablesOf(tier)) {
        if (numberIn(tier, table) >= first) break
        this.createdTables.delete(table)
        await this.write(within => within.run(`drop table if exists ${table}`))
      }
    }
  }

  /** Deletes the rows of some subjects before a time (ms UTC). */
  async deleteBefore(subjects: readonly string[], before: number): Promise<void> {
    const numbers = [...(await this.numbersOf(subjects)).values()]
    if (numbers.length === 0) return
    for (const tier of tiers) {
      const end = Math.floor(before / tier.stepMs)
      for (const table of await this.tablesWith(tier, 0, end - 1)) {
        await this.deleteFrom(table, 'subject', numbers, ' and at < ?', [end])
        await yieldToEventLoop()
      }
    }
  }

  /** Deletes everything about some subjects. */
  async delete(subjects: readonly string[]): Promise<void> {
    const numbers = [...(await this.numbersOf(subjects)).values()]
    if (numbers.length === 0) return
    for (const periods of this.touched) for (const affected of periods.values()) for (const one of numbers) affected.delete(one)
    for (const tier of tiers)
      for (const table of await this.tablesOf(tier)) {
        await this.deleteFrom(table, 'subject', numbers)
        await yieldToEventLoop()
      }
    await this.deleteFrom(metricTables.subjects, 'number', numbers)
    for (const subject of subjects) this.subjects.delete(subject)
  }

  private async rollPeriod(level: number, place: number, subjects: readonly number[]): Promise<void> {
    const [finer, tier] = [tiers[level - 1]!, tiers[level]!]
    const first = (place * tier.stepMs) / finer.stepMs
    for (let from = 0; from < subjects.length; from += subjectsPerRead) {
      const some = subjects.slice(from, from + subjectsPerRead)
      const sums = new Map<number, Map<string, Mean>>()
      for (const row of await this.rowsOf(finer, some, first, first + tier.stepMs / finer.stepMs)) {
        const columns = sums.get(row.subject) ?? new Map<string, Mean>()
        sums.set(row.subject, columns)
        visitRow(row, null, (place, avg, max, n) => {
          const column = row.columns[place]!
          if (columns.size < maxColumns || columns.has(column)) meanOf(columns, column).add(avg, max, n)
        })
      }
      await this.write(async within => {
        const rows: StoredRow[] = []
        for (const [subject, values] of sums) {
          const columns = [...values.keys()].sort()
          const layout = await this.layoutOf(within, columns)
          rows.push({ subject, at: place, layout, body: packRow(columns.map(column => values.get(column))) })
        }
        await this.put(within, tier, rows)
      })
      if (level + 1 < tiers.length) for (const one of sums.keys()) this.touch(level + 1, place * tier.stepMs, one)
      await yieldToEventLoop()
    }
  }

  /** Marks what was stored after the last computation of each process before this one started. @returns the facts of those */
  private async recover(): Promise<{ name: string; value: number }[]> {
    const statements = await this.engine.statements()
    const facts = await statements.all<{ name: string; value: number }>(
      `select name, value from series_facts where name like '${rolledFacts}%' and name <> ?`,
      [this.rolledFact],
    )
    // Without any, no process has run for long enough.
    const first = Math.floor(Math.min(...(facts.length > 0 ? facts : [{ value: 0 }]).map(one => one.value)) / minutes.stepMs)
    for (let after = -1; ;) {
      const subjects = await this.listSubjects(after, subjectsPerRead)
      if (subjects.length === 0) return facts
      for (const table of await this.tablesWith(minutes, first, Number.MAX_SAFE_INTEGER)) {
        const rows = await statements.all<StoredRow>(
          `select subject, at from ${table} where ${this.engine.isOneOf('subject')} and at >= ?`,
          [JSON.stringify(subjects.map(one => one.number)), first],
        )
        for (const { subject, at } of rows) this.touch(1, at * minutes.stepMs, subject)
        await yieldToEventLoop()
      }
      after = subjects.at(-1)!.number
    }
  }

  /** Makes sure that coarser rows are computed for minutes that arrive late, even if this process ends before. */
  private async noteLate(within: Statements, at: number, now: number): Promise<void> {
    if (now - at >= lateMs)
      await within.run(
        'insert into series_facts(name, value) values (?, ?) on conflict (name) do update set value = excluded.value where series_facts.value > excluded.value',
        [this.rolledFact, at],
      )
  }

  private touch(level: number, at: number, subject: number): void {
    const periods = this.touched[level]!
    const place = Math.floor(at / tiers[level]!.stepMs)
    const subjects = periods.get(place) ?? new Set()
    periods.set(place, subjects)
    subjects.add(subject)
  }

  /** The rows of some subjects with `first <= at < end`. */
  private async rowsOf(tier: Tier, subjects: readonly number[], first: number, end: number): Promise<ReadRow[]> {
    const rows: StoredRow[] = []
    if (subjects.length === 0) return []
    const statements = await this.engine.statements()
    for (const table of await this.tablesWith(tier, first, end - 1))
      rows.push(
        ...(await statements.all<StoredRow>(
          `select subject, at, layout, body from ${table} where ${this.engine.isOneOf('subject')} and at >= ? and at < ? order by subject, at`,
          [JSON.stringify(subjects), first, end],
        )),
      )
    return await this.withColumns(rows)
  }

  private async put(within: Statements, tier: Tier, rows: readonly StoredRow[]): Promise<void> {
    for (const [number, own] of Map.groupBy(rows, one => tableNumberOf(tier, one.at))) {
      const table = metricTables.rows(tier) + number
      if (!this.createdTables.has(table)) {
        await createMetricRows(this.engine, within, table)
        this.createdTables.add(table)
      }
      // A statement can't replace a row twice.
      const last = new Map(own.map(one => [`${one.subject} ${one.at}`, one]))
      await within.each(
        `insert into ${table}(subject, at, layout, body) values (?, ?, ?, ?) on conflict (subject, at) do update set layout = excluded.layout, body = excluded.body`,
        // A fixed order avoids deadlocks between hubs.
        [...last.values()]
          .sort((a, b) => a.subject - b.subject || a.at - b.at)
          .map(one => [one.subject, one.at, one.layout, one.body]),
      )
    }
  }

  private async layoutOf(within: Statements, columns: readonly string[]): Promise<number> {
    if (this.layouts.size >= maxLayouts) this.layouts.clear()
    return await this.numberOf(within, metricTables.layouts, this.layouts, columns.join('\n'))
  }

  private async withColumns(rows: readonly StoredRow[]): Promise<ReadRow[]> {
    await this.checkGeneration()
    if (this.layoutsByNumber.size >= maxLayouts) this.layoutsByNumber.clear()
    const layouts = new Map(rows.map(row => [row.layout, this.layoutsByNumber.get(row.layout)]))
    const unknown = [...layouts].flatMap(([number, columns]) => (columns ? [] : [number]))
    if (unknown.length > 0) {
      const statements = await this.engine.statements()
      const found = await statements.all<{ number: number; text: string }>(
        `select number, text from ${metricTables.layouts} where ${this.engine.isOneOf('number')}`,
        [JSON.stringify(unknown)],
      )
      for (const { number, text } of found) {
        const columns = text.split('\n')
        layouts.set(number, columns)
        this.layoutsByNumber.set(number, columns)
      }
    }
    return rows.flatMap(({ subject, at, body, layout }) => {
      const columns = layouts.get(layout)
      return columns ? [{ subject, at, body, columns }] : []
    })
  }

  /** The number of a text, which is assigned if it has none. */
  private async numberOf(within: Statements, table: string, known: Map<string, number>, text: string): Promise<number> {
    for (let number = known.get(text); ;) {
      if (number !== undefined) return number
      const [row] = await within.all<{ number: number }>(`select number from ${table} where text = ?`, [text])
      if (row) known.set(text, (number = row.number))
      // Another hub may assign the same number at the same time.
      else
        await within.run(
          `insert into ${table}(number, text) select coalesce(max(number), 0) + 1, cast(? as varchar) from ${table} where true on conflict do nothing`,
          [text],
        )
    }
  }

  private async knownNumber(subject: string): Promise<number | null> {
    return (await this.numbersOf([subject])).get(subject) ?? null
  }

  /** The numbers of the subjects that have one. */
  private async numbersOf(subjects: readonly string[]): Promise<Map<string, number>> {
    await this.checkGeneration()
    const unknown = subjects.filter(one => !this.subjects.has(one))
    for (let at = 0; at < unknown.length; at += numbersPerRead) {
      const statements = await this.engine.statements()
      const rows = await statements.all<{ number: number; text: string }>(
        `select number, text from ${metricTables.subjects} where ${this.engine.isOneOf('text', 'text')}`,
        [JSON.stringify(unknown.slice(at, at + numbersPerRead))],
      )
      for (const { number, text } of rows) this.subjects.set(text, number)
    }
    return new Map(
      subjects.flatMap(one => {
        const number = this.subjects.get(one)
        return number === undefined ? [] : [[one, number]]
      }),
    )
  }

  private async tablesOf(tier: Tier): Promise<string[]> {
    const tables = await this.engine.tables(metricTables.rows(tier))
    return tables.sort((a, b) => numberIn(tier, a) - numberIn(tier, b))
  }

  private async tablesWith(tier: Tier, first: number, last: number): Promise<string[]> {
    const [from, to] = [tableNumberOf(tier, first), tableNumberOf(tier, last)]
    return (await this.tablesOf(tier)).filter(table => {
      const number = numberIn(tier, table)
      return number >= from && number <= to
    })
  }

  private async deleteFrom(
    table: string,
    column: string,
    numbers: readonly number[],
    condition = '',
    values: number[] = [],
  ): Promise<void> {
    await this.write(within =>
      within.run(`delete from ${table} where ${this.engine.isOneOf(column)}${condition}`, [JSON.stringify(numbers), ...values]),
    )
  }

  /** A new file, in place of a damaged one, has other numbers. */
  private async checkGeneration(): Promise<void> {
    await this.engine.statements()
    if (this.generation !== this.engine.generation) this.forget()
    this.generation = this.engine.generation
  }

  private forget(): void {
    this.createdTables.clear()
    this.subjects.clear()
    this.layouts.clear()
    this.layoutsByNumber.clear()
    this.touched = tiers.map(() => new Map())
  }

  private async write<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    await this.checkGeneration()
    let isRepeated = false
    try {
      return await this.writeThrough(within => {
        if (isRepeated) this.forgetNumbers()
        isRepeated = true
        return fn(within)
      })
    } catch (error) {
      this.forgetNumbers()
      throw error
    }
  }

  /** Numbers that were assigned may have been rolled back. */
  private forgetNumbers(): void {
    this.subjects.clear()
    this.layouts.clear()
  }
}

const numberIn = (tier: Tier, table: string): number => Number(table.slice(metricTables.rows(tier).length))
