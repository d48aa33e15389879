/** Values that both engines take and give. Whole numbers come back as numbers. */
export type Value = number | string | Uint8Array | null
export type Row = Record<string, Value>

/** Statements within one transaction, or outside of any. `?` stands for a value. */
export interface Statements {
  all<R extends Row>(text: string, values?: readonly Value[]): Promise<R[]>
  run(text: string, values?: readonly Value[]): Promise<void>
  /** The same statement for each row of values. */
  each(text: string, rows: readonly (readonly Value[])[]): Promise<void>
}

/** What differs between the two engines, below one set of statements. */
export interface Engine {
  /** Outside of a transaction. */
  statements(): Promise<Statements>
  /** In one transaction, undone when `fn` throws. */
  allOrNone<T>(fn: (within: Statements) => Promise<T>): Promise<T>
  /** How a column of octets is declared. */
  octets: string
  /** Said behind the columns of a table that is kept in the order of its primary key. */
  keyed: string
  /** Whether several hubs write to it. Then beats are found by monitor; else a table of them is only read as it was written. */
  isShared: boolean
  /** Names of the tables that begin with this. */
  tables(beginning: string): Promise<string[]>
  /** Says that a column is one of some numbers, from one value: their JSON. */
  among(column: string): string
  /** Octets on the disk; null where it cannot be told. */
  size(): Promise<number | null>
  /** Gives freed room back and keeps the log of writes short. */
  tidy(): Promise<void>
  /** What was moved aside since it was last asked: a file that could not be read, by its new name. */
  movedAside(): string | null
  close(): Promise<void>
}
