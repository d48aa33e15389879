import { count, eq, sql } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { numbersOf } from '../../core/db/counts'
import { heartbeats } from './tables'

/** As they are shown: `grace` is kept as `up`. */
export const heartbeatStatuses = ['new', 'up', 'grace', 'down', 'paused'] as const

/** How many heartbeats a workspace has, by status. */
export async function heartbeatsOutline({
  hub,
  workspaceId,
}: Ctx): Promise<{ total: number; by_status: Record<(typeof heartbeatStatuses)[number], number> }> {
  const now = sql`cast(${hub.clock.now()} as bigint)`
  // As `statusAt` of state.ts has it.
  const word = sql<string>`case
    when ${heartbeats.downAt} <= ${now} then 'down'
    when ${heartbeats.status} = 'up' and ${heartbeats.expectedAt} <= ${now} then 'grace'
    else ${heartbeats.status} end`.as('word')
  const shown = hub.read.select({ word }).from(heartbeats).where(eq(heartbeats.workspaceId, workspaceId)).as('shown')
  const rows = await hub.read
    .select({ word: shown.word, n: count() })
    .from(shown)
    .groupBy(sql`${shown.word}`)
  return { total: rows.reduce((sum, row) => sum + row.n, 0), by_status: numbersOf(heartbeatStatuses, rows) }
}
