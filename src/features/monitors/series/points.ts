import { hourMs, hourOf, hoursADay } from '../../../core/db/series/hours'
import { type CheckSeries, checkSeries, checksOf } from './check-series'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { Rollup, type Distribution } from '../../../core/db/series/rollup'
import type { Hub } from '../../../core/hub'
import { invalidParameter } from '../../../core/query'
import { yieldToEventLoop } from '../../../core/time-slices'
import { findRow } from '../../../core/rows'
import { monitorRows, type MonitorRow } from '../view'
import { beatsOfHours, withinDays } from './hour-beats'
import { oldestHourAt, rollsOfHours } from './hour-rolls'
import { numberOf } from './results'
import { beatRetentionHours, hourlyRetentionDays } from './retention'
import { maxPoints, type Metric, type PointView, type SeriesQuery, type SeriesView } from './shapes'
import { historyOf } from './timeline'
import { inSeconds, timeByStatus, uptimePercent } from './uptime'

const dayMs = hoursADay * hourMs
// Steps for `auto` in seconds: round values for an axis.
const steps = [60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800, 2_592_000]
const pointsOfAuto = 500

interface Window {
  from: number
  to: number
  stepMs: number
}

/**
 * A time series of a monitor, in points of equal length.
 * @throws Problem 404, 400 for an unsupported window or step
 */
export async function readSeries(ctx: Ctx, id: string, query: SeriesQuery): Promise<SeriesView> {
  const { hub } = ctx
  const monitor = await findRow(hub.read, ctx, monitorRows, id)
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

/** Resolves window and step. Points are aligned to multiples of the step, so that they are the same for any window. */
function windowOf(hub: Hub, query: SeriesQuery): Window {
  const now = hub.clock.now()
  const to = query.to === undefined ? now : Math.min(now, Date.parse(query.to))
  const from = query.from === undefined ? to - dayMs : Date.parse(query.from)
  if (from >= to) throw invalidParameter('from', 'must be before `to` and not in the future.')
  // Older durations are kept only by day.
  const daysAlone = query.metric !== 'availability' && from < oldestHourAt(now)
  const seconds = query.step === undefined || query.step === 'auto' ? autoStep(to - from, daysAlone) : Number(query.step)
  const stepMs = seconds * 1000
  if (stepMs >= hourMs && stepMs % hourMs !== 0)
    throw invalidParameter('step', 'must be a multiple of 3600 if it is an hour or more.')
  if (daysAlone && stepMs % dayMs !== 0)
    throw invalidParameter('step', `must be a multiple of 86400 if the window starts more than ${hourlyRetentionDays} days ago.`)
  const begin = Math.floor(from / stepMs) * stepMs
  if ((to - begin) / stepMs > maxPoints)
    throw invalidParameter('step', `would return more than ${maxPoints} points for this window. Use a longer step or \`auto\`.`)
  return { from: begin, to, stepMs }
}

function autoStep(spanMs: number, daysAlone: boolean): number {
  const fitting = steps.filter(seconds => !daysAlone || seconds % (dayMs / 1000) === 0)
  const found = fitting.find(seconds => spanMs / (seconds * 1000) <= pointsOfAuto) ?? fitting.at(-1)!
  if (spanMs / (found * 1000) >= maxPoints) throw invalidParameter('from', 'is too far in the past.')
  return found
}

async function availability(hub: Hub, monitor: MonitorRow, { from, to, stepMs }: Window): Promise<PointView[]> {
  const stretches = await historyOf(hub, monitor, from, to)
  const edges: number[] = []
  for (let at = from; at < to; at += stepMs) edges.push(at)
  edges.push(to)
  return timeByStatus(stretches, edges).map((spent, place) => ({
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
  const points = new Map<number, Rollup<CheckSeries>>()
  const add = (at: number, roll: Rollup<CheckSeries>) => {
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

/** Mean phases over all checks, where a missing phase counts as zero, so that the phases never add up to more than the total. */
function phasesOf({ columns }: Rollup<CheckSeries>): PointView['phases'] {
  const part = (spread: Distribution) => (spread.n === 0 ? null : rounded((spread.mean! * spread.n) / columns.ms.n))
  return {
    dns_ms: part(columns.dns),
    connect_ms: part(columns.connect),
    tls_ms: part(columns.tls),
    first_byte_ms: part(columns.firstByte),
  }
}

/** Rollups for steps shorter than an hour, from individual results as long as they are kept. */
async function* rollsOfSteps(hub: Hub, monitor: number, { from, to, stepMs }: Window, location: number | null) {
  const days = await checksOf(hub).chunkDays()
  const first = days[0] === undefined ? hourOf(hub.clock.now()) - beatRetentionHours : days[0] * hoursADay
  for (const [begin, until] of withinDays(Math.max(first, hourOf(from)), hourOf(to - 1) + 1)) {
    const rolls = new Map<number, Rollup<CheckSeries>>()
    for (const beat of await beatsOfHours(hub, monitor, begin, until)) {
      if (beat.at < from || beat.at >= to || (location !== null && beat.part !== location)) continue
      const at = Math.floor(beat.at / stepMs) * stepMs
      const roll = rolls.get(at) ?? new Rollup(checkSeries)
      roll.add(beat)
      rolls.set(at, roll)
    }
    for (const [at, roll] of rolls) yield { at, roll }
    await yieldToEventLoop()
  }
}

function spreadOf(roll: Rollup<CheckSeries>, metric: Metric): Distribution {
  if (metric === 'latency') return roll.columns.ms
  return roll.columns[metric === 'first_byte' ? 'firstByte' : (metric as 'dns' | 'connect' | 'tls')]
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
