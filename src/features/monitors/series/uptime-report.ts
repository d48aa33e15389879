import { hourMs, hoursADay } from '../../../core/db/series/hours'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { checkSeries } from './check-series'
import { Rollup } from '../../../core/db/series/rollup'
import type { Hub } from '../../../core/hub'
import { invalidParameter } from '../../../core/query'
import { canonicalTimezone } from '../../../core/wall-clock'
import { findRow } from '../../../core/rows'
import { monitorRows } from '../view'
import { calendarSpans, dayBegins } from './calendar'
import { rollsOfSpan } from './hour-rolls'
import type { UptimeQuery, UptimeView } from './shapes'
import { historyOf } from './timeline'
import { errorBudget, inSeconds, noTime, outagesOf, timeByStatus, uptimePercent, type StatusTimes, type Stretch } from './uptime'

const dayMs = hoursADay * hourMs
const maxDays = 1_100

/**
 * The uptime of a monitor over a window, by day and month.
 * @throws Problem 404, 400 for an invalid window or time zone
 */
export async function readUptime(ctx: Ctx, id: string, query: UptimeQuery): Promise<UptimeView> {
  const { hub } = ctx
  const monitor = await findRow(hub.read, ctx, monitorRows, id)
  const zone = canonicalTimezone(query.timezone ?? 'UTC')
  if (zone === null) throw invalidParameter('timezone', 'must be an IANA time zone name such as Europe/Berlin.')
  const window = windowOf(hub, query, zone)
  const stretches = await historyOf(hub, monitor, window.from, window.to)
  // Time before the monitor was created doesn't count.
  const from = Math.min(Math.max(window.from, monitor.createdAt), window.to)
  const [spent = noTime()] = timeByStatus(stretches, [from, window.to])
  const budget = (of: StatusTimes) => (query.objective === undefined ? null : budgetView(of, query.objective))
  return {
    from_at: instant(from),
    to_at: instant(window.to),
    timezone: zone,
    ...spanView(spent),
    ...outageView(stretches, spent),
    latency: await latencyOf(hub, monitor.number, from, window.to),
    error_budget: budget(spent),
    days: spansOf(stretches, zone, 'day', from, window.to).map(({ name, own }) => ({ date: name, ...spanView(own) })),
    months: spansOf(stretches, zone, 'month', from, window.to).map(({ name, own }) => ({
      month: name,
      ...spanView(own),
      error_budget: budget(own),
    })),
  }
}

function windowOf(hub: Hub, query: UptimeQuery, zone: string): { from: number; to: number } {
  const now = hub.clock.now()
  if (query.from === undefined) {
    if (query.to !== undefined) throw invalidParameter('to', 'can only be used with `from`.')
    const range = query.range ?? '30d'
    const from = range === '24h' ? now - dayMs : dayBegins(zone, now, Number.parseInt(range, 10) - 1)
    return { from, to: now }
  }
  if (query.range !== undefined) throw invalidParameter('range', 'can’t be combined with `from`.')
  const from = Date.parse(query.from)
  const to = query.to === undefined ? now : Math.min(now, Date.parse(query.to))
  if (from >= to) throw invalidParameter('from', 'must be before `to` and not in the future.')
  if (to - from > maxDays * dayMs) throw invalidParameter('from', `must be at most ${maxDays} days before \`to\`.`)
  return { from, to }
}

const spanView = (spent: StatusTimes) => ({ seconds: inSeconds(spent), uptime_percent: uptimePercent(spent) })

function spansOf(stretches: readonly Stretch[], zone: string, unit: 'day' | 'month', from: number, to: number) {
  if (from >= to) return []
  const spans = calendarSpans(zone, unit, from, to)
  const spent = timeByStatus(stretches, [...spans.map(one => one.from), to])
  return spans.map(({ name }, place) => ({ name, own: spent[place]! }))
}

function outageView(stretches: readonly Stretch[], spent: StatusTimes) {
  const outages = outagesOf(stretches)
  const n = outages.length
  return {
    outages: n,
    longest_outage_seconds: n === 0 ? null : outages.reduce((longest, one) => Math.max(longest, one.downMs), 0) / 1000,
    mttr_seconds: n === 0 ? null : Math.round(spent.down / n) / 1000,
    mtbf_seconds: n === 0 ? null : Math.round((spent.up + spent.degraded) / n) / 1000,
  }
}

function budgetView(of: StatusTimes, objective: number) {
  const { allowed, consumed, remaining } = errorBudget(of, objective)
  return {
    objective_percent: objective,
    allowed_seconds: allowed / 1000,
    consumed_seconds: consumed / 1000,
    remaining_seconds: remaining / 1000,
    objective_met: remaining >= 0,
  }
}

async function latencyOf(hub: Hub, monitor: number, from: number, to: number): Promise<UptimeView['latency']> {
  const sum = new Rollup(checkSeries)
  if (from < to) for await (const { roll } of rollsOfSpan(hub, monitor, from, to)) sum.merge(roll)
  const { ms: latency } = sum.columns
  const rounded = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)
  return {
    n: latency.n,
    avg: rounded(latency.mean),
    p50: rounded(latency.percentile(0.5)),
    p95: rounded(latency.percentile(0.95)),
    p99: rounded(latency.percentile(0.99)),
  }
}
