import { isStorable, packRow, type Measured } from './metric-row'
import { tiers } from './metric-tiers'

/** What was measured of a subject in a minute, by column. */
export interface MetricMinute {
  /** What was measured, and by what. */
  subject: string
  /** Any time in the minute (ms UTC). */
  at: number
  /** Null for what was not measured in this minute, but is in others: minutes with the same columns take less space. */
  values: ReadonlyMap<string, Measured | null>
}

/** A minute as it is stored. */
export interface PackedMinute {
  subject: string
  /** Number of the minute since 1970. */
  at: number
  columns: readonly string[]
  body: Uint8Array
  /** When it was to be stored (ms UTC). */
  now: number
}

/** Packs what can be stored of a minute; nothing if no value can. */
export function packMinute({ subject, at, values }: MetricMinute, now: number): PackedMinute[] {
  const columns = [...values.keys()].sort()
  const stored = columns.map(column => {
    const value = values.get(column)
    return value && isStorable(value) ? value : undefined
  })
  if (stored.every(value => value === undefined)) return []
  return [{ subject, at: Math.floor(at / tiers[0].stepMs), columns, body: packRow(stored), now }]
}
