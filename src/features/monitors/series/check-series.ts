import { seriesKind, type Sample } from '../../../core/db/series/kind'
import type { Series } from '../../../core/db/series/series'
import type { Hub } from '../../../core/hub'

const phase = { decimals: 1, isDetail: true, rollup: 'distribution' } as const

/**
 * Check results: 28.8 million a day for 10,000 monitors. `series` is the number of the monitor, and `part` is the number of the location.
 * Durations are in milliseconds.
 */
export const checkSeries = seriesKind({
  name: 'checks',
  version: 1,
  columns: {
    status: { words: ['up', 'degraded', 'down'] },
    ms: { decimals: 1, rollup: 'distribution' },
    code: { isSteady: true },
    // Number of the error text, from `textNumber`.
    error: { isSteady: true, isLarge: true },
    dns: phase,
    connect: phase,
    tls: phase,
    firstByte: phase,
  },
  // The duration of a failed check doesn’t measure how fast the target is.
  isMeasured: row => row.status !== 'down',
})

export type CheckSeries = typeof checkSeries

/** A stored check result. */
export type Beat = Sample<CheckSeries>

export const checksOf = (hub: Hub): Series<CheckSeries> => hub.series.of(checkSeries)
