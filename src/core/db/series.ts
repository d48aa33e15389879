import { isPostgres } from './dialect'
import { postgresEngine } from './series/postgres'
import { SeriesStore, type SeriesPlace } from './series/store'
import { sqliteEngine } from './series/sqlite'

export { textNumber, type SeriesStore } from './series/store'

/**
 * One result of a check, as it is kept: octets count here, 10,000 monitors make 28.8 million of them a day.
 * Monitor and location are the numbers of their rows. Milliseconds UTC for times, milliseconds for spans, kept to a tenth.
 */
export interface Beat {
  monitor: number
  location: number
  at: number
  status: 'up' | 'degraded' | 'down'
  ms: number | null
  code: number | null
  /** The number of its text, by `textNumber`. */
  error: number | null
  dns: number | null
  connect: number | null
  tls: number | null
  firstByte: number | null
}

/**
 * Where results of checks are kept: a file of its own beside the SQLite database, or tables of their own in PostgreSQL. Nothing is
 * opened before it is first used.
 */
export const openSeries = (place: SeriesPlace): SeriesStore =>
  new SeriesStore(isPostgres ? postgresEngine(place) : sqliteEngine(place))
