import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { hourMs } from '../../../core/db/series/chunk'
import { Roll } from '../../../core/db/series/roll'
import { hoursADay } from '../../../core/db/series/store'
import type { Hub } from '../../../core/hub'
import { badParameter } from '../../../core/query'
import { canonicalTimezone } from '../../../core/wall-clock'
import { monitorOf } from '../monitors'
import { calendarSpans, dayBegins } from './calendar'
import { rollsOfSpan } from './hour-rolls'
import type { UptimeQuery, UptimeView } from './shapes'
import { historyOf } from './timeline'
import { errorBudget, inSeconds, nothing, outagesOf, spentBetween, uptimePercent, type Spent, type Stretch } from './uptime'

const dayMs = hoursADay * hourMs
const mostDays = 1_100

/**
 * How much of a window a monitor was up, with its days and months.
 * @throws Problem 404, 400 for a window or a time zone that there is not
 */
export async function readUptime(ctx: Ctx, id: string, query: UptimeQuery): Promise<UptimeView> {
  const { hub } = ctx
  const monitor = await monitorOf(hub.read, ctx, id)
  const zone = canonicalTimezone(query.timezone ?? 'UTC')
  if (zone === null) throw badParameter('timezone', 'must be the IANA name of a time zone, such as Europe/Berlin.')
  const asked = windowOf(hub, query, zone)
  const stretches = await historyOf(hub, monitor, asked.from, asked.to)
  // Before it was made there was nothing to be up.
  const from = Math.min(Math.max(asked.from, monitor.createdAt), asked.to)
  const [spent = nothing()] = spentBetween(stretches, [from, asked.to])
  const budget = (of: Spent) => (query.objective === undefined ? null : budgetView(of, query.objective))
  return {
    from_at: instant(from),
    to_at: instant(asked.to),
    timezone: zone,
    ...spanView(spent),
    ...outageView(stretches, spent),
    latency: await latencyOf(hub, monitor.number, from, asked.to),
    error_budget: budget(spent),
    days: spansOf(stretches, zone, 'day', from, asked.to).map(({ name, own }) => ({ date: name, ...spanView(own) })),
    months: spansOf(stretches, zone, 'month', from, asked.to).map(({ name, own }) => ({
      month: name,
      ...spanView(own),
      error_budget: budget(own),
    })),
  }
}

function windowOf(hub: Hub, query: UptimeQuery, zone: string): { from: number; to: number } {
  const now = hub.clock.now()
  if (query.from === undefined) {
    if (query.to !== undefined) throw badParameter('to', 'needs `from`.')
    const range = query.range ?? '30d'
    const from = range === '24h' ? now - dayMs : dayBegins(zone, now, Number.parseInt(range, 10) - 1)
    return { from, to: now }
  }
  if (query.range !== undefined) throw badParameter('range', 'and `from` exclude each other.')
  const from = Date.parse(query.from)
  const to = query.to === undefined ? now : Math.min(now, Date.parse(query.to))
  if (from >= to) throw badParameter('from', 'must be before `to`, and not in the future.')
  if (to - from > mostDays * dayMs) throw badParameter('from', `must be at most ${mostDays} days before \`to\`.`)
  return { from, to }
}

const spanView = (spent: Spent) => ({ seconds: inSeconds(spent), uptime_percent: uptimePercent(spent) })

function spansOf(stretches: readonly Stretch[], zone: string, unit: 'day' | 'month', from: number, to: number) {
  if (from >= to) return []
  const spans = calendarSpans(zone, unit, from, to)
  const spent = spentBetween(stretches, [...spans.map(one => one.from), to])
  return spans.map(({ name }, place) => ({ name, own: spent[place]! }))
}

function outageView(stretches: readonly Stretch[], spent: Spent) {
  const outages = outagesOf(stretches)
  const n = outages.length
  return {
    outages: n,
    longest_outage_seconds: n === 0 ? null : outages.reduce((most, one) => Math.max(most, one.downMs), 0) / 1000,
    mttr_seconds: n === 0 ? null : Math.round(spent.down / n) / 1000,
    mtbf_seconds: n === 0 ? null : Math.round((spent.up + spent.degraded) / n) / 1000,
  }
}

function budgetView(of: Spent, objective: number) {
  const { allowed, spent, left } = errorBudget(of, objective)
  return {
    objective_percent: objective,
    allowed_seconds: Math.round(allowed) / 1000,
    spent_seconds: spent / 1000,
    left_seconds: Math.round(left) / 1000,
    met: left >= 0,
  }
}

async function latencyOf(hub: Hub, monitor: number, from: number, to: number): Promise<UptimeView['latency']> {
  const sum = new Roll()
  if (from < to) for await (const { roll } of rollsOfSpan(hub, monitor, from, to)) sum.merge(roll)
  const { latency } = sum
  const told = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)
  return {
    n: latency.n,
    avg: told(latency.mean),
    p50: told(latency.percentile(0.5)),
    p95: told(latency.percentile(0.95)),
    p99: told(latency.percentile(0.99)),
  }
}
