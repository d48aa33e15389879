import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { hourMs } from '../../../core/db/series/chunk'
import { Roll, type Spread } from '../../../core/db/series/roll'
import { hourOf, hoursADay } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { badParameter } from '../../../core/query'
import { othersTurn } from '../../../core/turns'
import { monitorOf } from '../monitors'
import type { MonitorRow } from '../view'
import { beatsOfHours, withinDays } from './hour-beats'
import { oldestHourAt, rollsOfHours } from './hour-rolls'
import { numberOf } from './results'
import { beatHoursKept, rollHourDaysKept } from './retention'
import { mostPoints, type Metric, type PointView, type SeriesQuery, type SeriesView } from './shapes'
import { historyOf } from './timeline'
import { inSeconds, spentBetween, uptimePercent } from './uptime'

const dayMs = hoursADay * hourMs
// What `auto` chooses from: seconds that people read off an axis.
const steps = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000]
const pointsOfAuto = 500

interface Window {
  from: number
  to: number
  stepMs: number
}

/**
 * How a monitor did, in points of equal length.
 * @throws Problem 404, 400 for a window or a step that cannot be served, naming the rule
 */
export async function readSeries(ctx: Ctx, id: string, query: SeriesQuery): Promise<SeriesView> {
  const { hub } = ctx
  const monitor = await monitorOf(hub.read, ctx, id)
  const location = numberOf(query.location)
  const metric = query.metric ?? 'latency'
  const window = windowOf(hub, query)
  const points =
    metric === 'availability' ? await availability(hub, monitor, window) : await times(hub, monitor, metric, window, location)
  return {
    metric,
    from_at: instant(window.from),
    to_at: instant(window.to),
    step_seconds: window.stepMs / 1000,
    points,
  }
}

/** The window with its steps: points begin at whole multiples of a step, so that two windows have the same ones. */
function windowOf(hub: Hub, query: SeriesQuery): Window {
  const now = hub.clock.now()
  const to = query.to === undefined ? now : Math.min(now, Date.parse(query.to))
  const from = query.from === undefined ? to - dayMs : Date.parse(query.from)
  if (from >= to) throw badParameter('from', 'must be before `to`, and not in the future.')
  // Of times, what goes further back is kept by the day alone.
  const daysAlone = query.metric !== 'availability' && from < oldestHourAt(now)
  const seconds = query.step === undefined || query.step === 'auto' ? autoStep(to - from, daysAlone) : Number(query.step)
  const stepMs = seconds * 1000
  if (stepMs >= hourMs && stepMs % hourMs !== 0) throw badParameter('step', 'must be whole hours from an hour on.')
  if (daysAlone && stepMs % dayMs !== 0)
    throw badParameter('step', `must be whole days where the window begins more than ${rollHourDaysKept} days ago.`)
  const begin = Math.floor(from / stepMs) * stepMs
  if ((to - begin) / stepMs > mostPoints)
    throw badParameter('step', `makes more than ${mostPoints} points of this window: take a longer one, or \`auto\`.`)
  return { from: begin, to, stepMs }
}

function autoStep(spanMs: number, daysAlone: boolean): number {
  const fitting = steps.filter(seconds => !daysAlone || seconds % (dayMs / 1000) === 0)
  const found = fitting.find(seconds => spanMs / (seconds * 1000) <= pointsOfAuto) ?? fitting.at(-1)!
  if (spanMs / (found * 1000) >= mostPoints) throw badParameter('from', 'lies too far back.')
  return found
}

async function availability(hub: Hub, monitor: MonitorRow, { from, to, stepMs }: Window): Promise<PointView[]> {
  const stretches = await historyOf(hub, monitor, from, to)
  const edges: number[] = []
  for (let at = from; at < to; at += stepMs) edges.push(at)
  edges.push(to)
  return spentBetween(stretches, edges).map((spent, place) => ({
    ...empty(edges[place]!),
    uptime_percent: uptimePercent(spent),
    seconds: inSeconds(spent),
  }))
}

async function times(
  hub: Hub,
  { number }: MonitorRow,
  metric: Metric,
  window: Window,
  location: number | null,
): Promise<PointView[]> {
  const points = new Map<number, Roll>()
  const add = (at: number, roll: Roll) => {
    const place = Math.floor(at / window.stepMs)
    const sum = points.get(place)
    if (sum) sum.merge(roll)
    else points.set(place, roll)
  }
  const rolls =
    window.stepMs < hourMs
      ? rollsOfSteps(hub, number, window, location)
      : rollsOfHours(hub, number, window.from, window.to, location)
  for await (const { at, roll } of rolls) add(at, roll)
  return [...points]
    .map(([place, roll]) => ({ place, roll, spread: spreadOf(roll, metric) }))
    .filter(({ spread }) => spread.n > 0)
    .sort((a, b) => a.place - b.place)
    .map(({ place, roll, spread }) => ({
      ...empty(place * window.stepMs),
      n: spread.n,
      min: spread.min,
      avg: rounded(spread.mean),
      max: spread.max,
      p50: rounded(spread.percentile(0.5)),
      p95: rounded(spread.percentile(0.95)),
      p99: rounded(spread.percentile(0.99)),
      phases: metric === 'latency' ? phasesOf(roll) : null,
    }))
}

/** Of all checks, those without a part counted as none of its time: so the parts come to no more than the whole. */
function phasesOf({ latency, phases }: Roll): PointView['phases'] {
  const part = (spread: Spread) => (spread.n === 0 ? null : rounded((spread.mean! * spread.n) / latency.n))
  return {
    dns_ms: part(phases.dns),
    connect_ms: part(phases.connect),
    tls_ms: part(phases.tls),
    first_byte_ms: part(phases.firstByte),
  }
}

/** Shorter than hours: from the results themselves, as long as they are kept. */
async function* rollsOfSteps(hub: Hub, monitor: number, { from, to, stepMs }: Window, location: number | null) {
  const days = await hub.series.chunkDays()
  const first = days[0] === undefined ? hourOf(hub.clock.now()) - beatHoursKept : days[0] * hoursADay
  for (const [begin, until] of withinDays(Math.max(first, hourOf(from)), hourOf(to - 1) + 1)) {
    const rolls = new Map<number, Roll>()
    for (const beat of await beatsOfHours(hub, monitor, begin, until)) {
      if (beat.at < from || beat.at >= to || (location !== null && beat.location !== location)) continue
      const at = Math.floor(beat.at / stepMs) * stepMs
      const roll = rolls.get(at) ?? new Roll()
      roll.add(beat)
      rolls.set(at, roll)
    }
    for (const [at, roll] of rolls) yield { at, roll }
    await othersTurn()
  }
}

function spreadOf(roll: Roll, metric: Metric): Spread {
  if (metric === 'latency') return roll.latency
  return roll.phases[metric === 'first_byte' ? 'firstByte' : (metric as 'dns' | 'connect' | 'tls')]
}

const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 10) / 10)

const empty = (at: number): PointView => ({
  at: instant(at),
  n: 0,
  min: null,
  avg: null,
  max: null,
  p50: null,
  p95: null,
  p99: null,
  phases: null,
  uptime_percent: null,
  seconds: null,
})
