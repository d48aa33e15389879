import { count, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countsByWord } from '../../core/db/counts'
import { heartbeatStatuses } from './shapes'
import { heartbeats } from './tables'

/** Counts the heartbeats of the workspace by status. */
export async function heartbeatCounts({
  hub,
  workspaceId,
}: Ctx): Promise<{ total: number; by_status: Record<(typeof heartbeatStatuses)[number], number> }> {
  const now = sql`cast(${hub.clock.now()} as bigint)`
  // Same rules as `statusAt` in status/state.ts.
  const status = sql<string>`case
    when ${heartbeats.downAt} <= ${now} then 'down'
    when ${heartbeats.status} = 'up' and ${heartbeats.expectedAt} <= ${now} then 'grace'
    else ${heartbeats.status} end`.as('word')
  const statuses = hub.read
    .select({ word: status })
    .from(heartbeats)
    .where(eq(heartbeats.workspaceId, workspaceId))
    .as('statuses')
  const rows = await hub.read
    .select({ word: statuses.word, n: count() })
    .from(statuses)
    .groupBy(sql`${statuses.word}`)
  return { total: rows.reduce((sum, row) => sum + row.n, 0), by_status: countsByWord(heartbeatStatuses, rows) }
}
