import { asc, count, eq } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import type { MonitorSummaryView } from './shapes'
import { monitors } from './tables'

const maxTags = 500
const maxTagSets = 10_000

/** The number of monitors by status, type, and tag. */
export async function summarizeMonitors(ctx: Ctx): Promise<MonitorSummaryView> {
  const { read } = ctx.hub
  const own = eq(monitors.workspaceId, ctx.workspaceId)
  const statuses = await read.select({ word: monitors.status, n: count() }).from(monitors).where(own).groupBy(monitors.status)
  const types = await read.select({ word: monitors.type, n: count() }).from(monitors).where(own).groupBy(monitors.type)
  const sets = await read
    .select({ tags: monitors.tags, n: count() })
    .from(monitors)
    .where(own)
    .groupBy(monitors.tags)
    .orderBy(asc(monitors.tags))
    .limit(maxTagSets)
  const tags = new Map<string, number>()
  for (const set of sets) for (const tag of set.tags) tags.set(tag, (tags.get(tag) ?? 0) + set.n)
  return {
    total: statuses.reduce((sum, one) => sum + one.n, 0),
    statuses: Object.fromEntries(statuses.map(one => [one.word, one.n])),
    types: Object.fromEntries(types.map(one => [one.word, one.n])),
    tags: [...tags]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, maxTags)
      .map(([tag, n]) => ({ tag, monitors: n })),
  }
}
