import type { Checkpoints } from '../checkpoints'
import { isStorageFull } from '../errors'
import type { Engine, Statements } from './engine'
import type { SeriesKind } from './kind'
import { MetricSeries } from './metrics'
import { Series } from './series'

/** Where a hub stores its series. */
export interface SeriesPlace {
  data: string
  databaseUrl: string | null
  /** Milliseconds UTC, for the names of damaged files. */
  now(): number
  /** The thread that copies the write-ahead log of a SQLite file. By default, commits do. */
  checkpoints?: Checkpoints | null
}

// Hubs write rows once a second.
const fullForMs = 3000

/** The series of all kinds. */
export class SeriesStore {
  private readonly createdTables = new Set<string>()
  private readonly byKind = new Map<SeriesKind, unknown>()
  /** Measurements whose columns differ, such as those of servers. */
  readonly metrics: MetricSeries
  private fullAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly engine: Engine,
    kinds: readonly SeriesKind[],
  ) {
    this.metrics = new MetricSeries(engine, fn => this.write(fn), this.createdTables)
    for (const kind of kinds) this.byKind.set(kind, new Series(kind, engine, fn => this.write(fn), this.createdTables))
  }

  /** The series of a kind, which must be one of those the store was opened with. */
  of<K extends SeriesKind>(kind: K): Series<K> {
    return this.byKind.get(kind) as Series<K>
  }

  /** Whether several hubs write to it. The rows of one series can then be read without reading those of all. */
  get isShared(): boolean {
    return this.engine.isShared
  }

  /** Reads a named number; null if not set. */
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

  /** Whether the last write failed recently because the disk is full. */
  isFull(): boolean {
    return performance.now() - this.fullAt < fullForMs
  }

  size(): Promise<number | null> {
    return this.engine.size()
  }

  compact(): Promise<void> {
    return this.engine.compact()
  }

  takeDamagedFile(): string | null {
    const damagedFile = this.engine.takeDamagedFile()
    if (damagedFile) this.createdTables.clear()
    return damagedFile
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  private async write<T>(fn: (within: Statements) => Promise<T>): Promise<T> {
    try {
      let isRepeated = false
      const result = await this.engine.inTransaction(within => {
        // What the attempt before created was rolled back.
        if (isRepeated) this.createdTables.clear()
        isRepeated = true
        return fn(within)
      })
      this.fullAt = Number.NEGATIVE_INFINITY
      return result
    } catch (error) {
      if (isStorageFull(error)) this.fullAt = performance.now()
      // Created tables may have been rolled back, or lost with a damaged file.
      this.createdTables.clear()
      throw error
    }
  }
}
