/** Values that both engines accept and return. Integers are returned as numbers. */
export type Value = number | string | Uint8Array | null
export type Row = Record<string, Value>

/** Runs statements, inside or outside of a transaction. `?` is a parameter. */
export interface Statements {
  all<R extends Row>(text: string, values?: readonly Value[]): Promise<R[]>
  run(text: string, values?: readonly Value[]): Promise<void>
  /** Runs a statement once for each row of values. */
  each(text: string, rows: readonly (readonly Value[])[]): Promise<void>
}

/** The differences between the two engines. The statements are the same. */
export interface Engine {
  /** Outside of a transaction. */
  statements(): Promise<Statements>
  /** Runs `fn` in a transaction, which is rolled back if it throws. */
  inTransaction<T>(fn: (within: Statements) => Promise<T>): Promise<T>
  /** Type of binary columns. */
  blobType: string
  /** Options of tables that are stored in primary key order. */
  tableOptions: string
  /** Whether several hubs write to it. Rows then have an index by series; otherwise they are only read in insertion order. */
  isShared: boolean
  /** Names of the tables with this prefix. */
  tables(prefix: string): Promise<string[]>
  /** Condition that a column is in a list of numbers or texts, passed as one parameter with their JSON. */
  isOneOf(column: string, type?: 'bigint' | 'text'): string
  /** Size on disk in bytes; null if unknown. */
  size(): Promise<number | null>
  /** Returns free space to the file system and truncates the write-ahead log. */
  compact(): Promise<void>
  /** The new name of an unreadable file that was renamed since the last call; null if there is none. */
  takeDamagedFile(): string | null
  /** How often such a file was replaced by a new one. */
  readonly generation: number
  close(): Promise<void>
}
