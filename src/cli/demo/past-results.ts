import { textNumber, type Beat } from '../../core/db/series'
import { hourMs, packChunk } from '../../core/db/series/chunk'
import { Roll } from '../../core/db/series/roll'
import { dayOfHour, hourOf, hoursADay } from '../../core/db/series/store'
import type { Hub } from '../../core/hub'
import { othersTurn } from '../../core/turns'
import { ErrorTexts } from '../../features/monitors/series/error-texts'
import { sealHours } from '../../features/monitors/series/seal'
import { textOf } from '../../features/monitors/series/taken'
import { latencyAt } from './latency'
import { daysBack, troubleOf, type Trouble } from './outages'
import type { Made } from './past-checks'

const minuteMs = 60_000
// How often there are results: each minute lately, and only as often as charts show it before that.
const everyMinuteHours = 26
const everyQuarterDays = 30
const local = 0

/** Writes down what the monitors of the demo found up to `now` (ms UTC), as if they had been checked all the time. */
export async function writeResults(
  hub: Hub,
  made: readonly Made[],
  troubles: readonly Trouble[],
  now: number,
  random: () => number,
) {
  const texts = new ErrorTexts(hub.series)
  await texts.write(
    troubles.map(one => one.error),
    dayOfHour(hourOf(now)),
  )
  const measured = made.filter(one => one.usual)
  const thisHour = hourOf(now)
  const beatsOf = (one: Made, hour: number, until = (hour + 1) * hourMs): Beat[] => {
    const beats: Beat[] = []
    const each = thisHour - hour <= everyMinuteHours ? minuteMs : 15 * minuteMs
    for (let at = hour * hourMs + Math.round(random() * 20_000); at < until; at += each)
      beats.push(beatOf(one, troubles, at, random))
    return beats
  }
  for (let day = dayOfHour(thisHour) - daysBack + 1; day <= dayOfHour(thisHour); day++) {
    const hours = Array.from({ length: hoursADay }, (_, hour) => day * hoursADay + hour).filter(
      hour => hour < thisHour && (hour % 3 === 0 || thisHour - hour <= everyQuarterDays * hoursADay),
    )
    await hub.series.putHours(
      measured.flatMap(one =>
        hours.map(hour => {
          const key = { monitor: one.number, location: local, hour }
          const beats = beatsOf(one, hour)
          const roll = new Roll()
          for (const beat of beats) roll.add(beat)
          return { ...key, ...packChunk(key, beats), roll }
        }),
      ),
    )
    await othersTurn()
  }
  // The hour that goes on is kept as it came.
  await hub.series.append(measured.flatMap(one => beatsOf(one, thisHour, now)))
  await sealHours(hub)
}

function beatOf({ key, number, usual }: Made, troubles: readonly Trouble[], at: number, random: () => number): Beat {
  const trouble = troubleOf(troubles, key, at)
  return {
    monitor: number,
    location: local,
    at,
    status: trouble?.status ?? 'up',
    code: trouble ? trouble.code : usual!.code,
    error: trouble && textNumber(textOf(trouble.error)),
    ...latencyAt(usual!, trouble, at, random),
  }
}
