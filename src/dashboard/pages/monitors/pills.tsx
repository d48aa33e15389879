import { useMemo } from 'react'
import type { RecentView } from '../../../features/monitors/series/shapes'
import { Bars, type Bar } from '../../parts/bars'
import { moodOf } from '../../parts/status'
import { latency, wholeTime } from '../../parts/time'

interface PillsProps {
  results: RecentView['results'] | readonly RecentView['results'][number][]
  height?: number
}

/** How many a strip has room for. */
const slots = 30

/** The last checks of a monitor as a strip of bars, the newest to the right. */
export function Pills({ results, height = 22 }: PillsProps) {
  const bars = useMemo(
    () =>
      results.map((one): Bar => ({
        mood: moodOf(one.status),
        title: `${one.status} · ${latency(one.latency_ms)} · ${wholeTime(one.at)}`,
      })),
    [results],
  )
  const well = results.filter(one => one.status !== 'down').length
  const label = results.length === 0 ? 'No checks yet' : `${well} of the last ${results.length} checks went well`
  return <Bars bars={bars} label={label} slots={slots} height={height} />
}
