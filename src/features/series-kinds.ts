import { checkSeries } from './monitors/series/check-series'

/** All kinds of series. */
export const seriesKinds = [checkSeries]
