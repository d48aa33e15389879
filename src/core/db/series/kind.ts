/** A column of a kind of series. Its values are numbers or null, or words, which can’t be null. */
interface SeriesColumn {
  /** The words, which are stored as their position. Rollups count each. */
  words?: readonly string[]
  /** Decimal places that are stored. Default: integers. */
  decimals?: number
  /** Whether values may exceed 31 bits. */
  isLarge?: boolean
  /** Whether values are mostly the same as before, like a code. Such values must not be negative. Default: mostly similar. */
  isSteady?: boolean
  /** Whether values are stored separately, so that they can be deleted earlier than the others. */
  isDetail?: boolean
  /** How values are combined in rollups. Default: they are left out. `meanBy`: average, weighted by another column. */
  rollup?: 'sum' | 'min' | 'max' | 'last' | 'distribution' | { meanBy: string }
}

type Columns = Readonly<Record<string, SeriesColumn>>

interface Declaration<C extends Columns> {
  /** Part of its table names, such as `checks`. */
  name: string
  /** Increased with each change to the columns, so that data stored before is not misread. */
  version: number
  columns: C
  /** Whether the numbers of a row count in rollups. Words always do. */
  isMeasured?(row: Values<C>): boolean
}

/** A kind of series with its columns in the order in which they are stored. */
export interface SeriesKind<C extends Columns = Columns> extends Declaration<C> {
  stored: {
    /** A row without values. Copies of it are faster than objects that are built column by column. */
    empty: AnySample
    all: readonly StoredColumn[]
    words: readonly StoredColumn[]
    steady: readonly StoredColumn[]
    similar: readonly StoredColumn[]
    details: readonly StoredColumn[]
  }
}

type Values<C extends Columns> = {
  [N in keyof C]: C[N] extends { words: readonly (infer W)[] } ? W : number | null
}

/**
 * A row of a series: `series` is the number of what was measured, `part` distinguishes several series of it, `at` is in milliseconds
 * UTC.
 */
export type Sample<K extends SeriesKind> = { series: number; part: number; at: number } & Values<K['columns']>

export interface StoredColumn extends SeriesColumn {
  name: string
  /** Bits of the position of a word. */
  bits: number
  /** Values are stored as integers, multiplied by this. */
  factor: number
}

/** A row whose columns are read by name. */
export type AnySample = Record<string, number | string | null>

/** Declares a kind of series: its columns, and how each is stored and rolled up. */
export function seriesKind<const C extends Columns>(declaration: Declaration<C>): SeriesKind<C> {
  const all: StoredColumn[] = Object.entries<SeriesColumn>(declaration.columns).map(([name, column]) => ({
    ...column,
    name,
    bits: column.words ? Math.ceil(Math.log2(column.words.length)) : 0,
    factor: 10 ** (column.decimals ?? 0),
  }))
  const numbers = all.filter(one => !one.words && !one.isDetail)
  return {
    ...declaration,
    stored: {
      empty: { series: 0, part: 0, at: 0, ...Object.fromEntries(all.map(one => [one.name, null])) },
      all,
      words: all.filter(one => one.words),
      steady: numbers.filter(one => one.isSteady),
      similar: numbers.filter(one => !one.isSteady),
      details: all.filter(one => one.isDetail),
    },
  }
}

/** The stored integer of a value. */
export function storedValue(row: AnySample, { name, words, factor }: StoredColumn): number | null {
  const value = row[name]!
  if (value === null) return null
  if (typeof value === 'string') return words!.indexOf(value)
  return factor === 1 ? value : Math.round(value * factor)
}

/** The value of a stored integer, which large columns return as text on PostgreSQL. */
export function valueOf({ words, factor }: StoredColumn, stored: number | string | null): number | string | null {
  if (stored === null) return null
  if (words) return words[Number(stored)]!
  return factor === 1 ? Number(stored) : Number(stored) / factor
}
