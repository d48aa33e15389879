import { isPostgres } from './dialect'
import type { SeriesKind } from './series/kind'
import { postgresEngine } from './series/postgres'
import { SeriesStore, type SeriesPlace } from './series/store'
import { sqliteEngine } from './series/sqlite'

export type { SeriesStore } from './series/store'

/**
 * Opens the storage of series: a separate SQLite file next to the database, or separate tables in PostgreSQL. The connection is
 * opened on first use.
 */
export const openSeries = (place: SeriesPlace, kinds: readonly SeriesKind[]): SeriesStore =>
  new SeriesStore(isPostgres ? postgresEngine(place, kinds) : sqliteEngine(place, kinds), kinds)
