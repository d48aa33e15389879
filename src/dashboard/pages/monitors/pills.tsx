import { useMemo } from 'react'
import type { RecentView } from '../../../features/monitors/series/shapes'
import { Bars, type Bar } from '../../parts/bars'
import { toneOf } from '../../parts/status'
import { formatLatency, formatDateTime } from '../../parts/time'

interface PillsProps {
  results: RecentView['results'] | readonly RecentView['results'][number][]
  height?: number
}

/** The last checks of a monitor as a strip of bars, newest on the right. */
export function Pills({ results, height = 20 }: PillsProps) {
  const bars = useMemo(
    () =>
      results.map((one): Bar => ({
        tone: toneOf(one.status),
        title: `${one.status} · ${formatLatency(one.latency_ms)} · ${formatDateTime(one.at)}`,
      })),
    [results],
  )
  const passed = results.filter(one => one.status !== 'down').length
  const label = results.length === 0 ? 'No checks yet' : `${passed} of the last ${results.length} checks passed`
  return <Bars fits bars={bars} label={label} height={height} />
}
