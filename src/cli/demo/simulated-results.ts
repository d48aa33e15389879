import { dayOfHour, hourMs, hourOf, hoursADay } from '../../core/db/series/hours'
import { type Beat, checkSeries, checksOf } from '../../features/monitors/series/check-series'
import { textNumber } from '../../core/db/series/series'
import { packChunk } from '../../core/db/series/chunk'
import { Rollup } from '../../core/db/series/rollup'
import type { Hub } from '../../core/hub'
import { yieldToEventLoop } from '../../core/time-slices'
import { ErrorTexts } from '../../features/monitors/series/error-texts'
import { sealHours } from '../../features/monitors/series/seal'
import { textOf } from '../../features/monitors/series/result-beat'
import { latencyAt } from './latency'
import { daysBack, outageAt, type Outage } from './outages'
import type { CreatedMonitor } from './simulated-checks'

const minuteMs = 60_000
// One result a minute in the last hours, before that only as many as charts show.
const everyMinuteHours = 26
const everyQuarterDays = 30
const local = 0

/** Stores check results up to `now` (ms UTC), as if the monitors had been checked all the time. */
export async function writePastResults(
  hub: Hub,
  monitors: readonly CreatedMonitor[],
  outages: readonly Outage[],
  now: number,
  random: () => number,
) {
  const texts = new ErrorTexts(checksOf(hub))
  await texts.write(
    outages.map(one => one.error),
    dayOfHour(hourOf(now)),
  )
  const measured = monitors.filter(one => one.usual)
  const thisHour = hourOf(now)
  const beatsOf = (one: CreatedMonitor, hour: number, until = (hour + 1) * hourMs): Beat[] => {
    const beats: Beat[] = []
    const step = thisHour - hour <= everyMinuteHours ? minuteMs : 15 * minuteMs
    for (let at = hour * hourMs + Math.round(random() * 20_000); at < until; at += step)
      beats.push(beatOf(one, outages, at, random))
    return beats
  }
  for (let day = dayOfHour(thisHour) - daysBack + 1; day <= dayOfHour(thisHour); day++) {
    const hours = Array.from({ length: hoursADay }, (_, hour) => day * hoursADay + hour).filter(
      hour => hour < thisHour && (hour % 3 === 0 || thisHour - hour <= everyQuarterDays * hoursADay),
    )
    await checksOf(hub).putHours(
      measured.flatMap(one =>
        hours.map(hour => {
          const key = { series: one.number, part: local, hour }
          const beats = beatsOf(one, hour)
          const roll = new Rollup(checkSeries)
          for (const beat of beats) roll.add(beat)
          return { ...key, ...packChunk(checkSeries, key, beats), roll }
        }),
      ),
    )
    await yieldToEventLoop()
  }
  // The current hour is stored unpacked.
  await checksOf(hub).append(measured.flatMap(one => beatsOf(one, thisHour, now)))
  await sealHours(hub)
}

function beatOf({ key, number, usual }: CreatedMonitor, outages: readonly Outage[], at: number, random: () => number): Beat {
  const outage = outageAt(outages, key, at)
  return {
    series: number,
    part: local,
    at,
    status: outage?.status ?? 'up',
    code: outage ? outage.code : usual!.code,
    error: outage && textNumber(textOf(outage.error)),
    ...latencyAt(usual!, outage, at, random),
  }
}
