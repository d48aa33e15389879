import { Mean, readRow } from './metric-row'
import { BadPacking } from './packer'

/** A row, with the names of its columns. Rows of the same layout share the list. */
export interface ReadRow {
  subject: number
  /** Number of the period since 1970. */
  at: number
  body: Uint8Array
  columns: readonly string[]
}

/**
 * Takes a value of a column, in order of time. One function for all columns, because calling a different one for each value takes longer
 * than decoding it.
 * @param at ms UTC
 */
export type Take<T> = (column: T, at: number, avg: number, max: number, n: number) => void

/** The columns to read of a layout: the places of those in it, and what to do with each. */
interface Wanted<T> {
  places: readonly number[]
  /** By place. */
  values: readonly (T | null)[]
}

/** Decides once for each layout which of its columns are read: rows mostly have the same one. */
export class WantedColumns<T> {
  private readonly byLayout = new Map<readonly string[], Wanted<T>>()

  /** @param of returns null for columns that are not read */
  constructor(private readonly of: (column: string) => T | null) {}

  in(columns: readonly string[]): Wanted<T> {
    let wanted = this.byLayout.get(columns)
    if (!wanted) {
      const values = columns.map(column => this.of(column))
      wanted = { places: values.flatMap((one, place) => (one === null ? [] : [place])), values }
      this.byLayout.set(columns, wanted)
    }
    return wanted
  }
}

/** Reads some columns of a row. @param visit called for each of them that has a value, with its place in the layout */
export function visitRow(
  { columns, body }: Pick<ReadRow, 'columns' | 'body'>,
  places: readonly number[] | null,
  visit: (place: number, avg: number, max: number, n: number) => void,
): void {
  try {
    readRow(body, columns.length, visit, places)
  } catch (error) {
    // One damaged row must not stop what is computed from all others.
    if (!(error instanceof BadPacking)) throw error
  }
}

/** The average of a column so far, which is empty at first. */
export function meanOf(columns: Map<string, Mean>, column: string): Mean {
  let mean = columns.get(column)
  if (!mean) columns.set(column, (mean = new Mean()))
  return mean
}
