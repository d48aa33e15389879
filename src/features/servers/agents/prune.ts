import { and, eq, isNull, lt, notExists, or, sql } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { pruneRows } from '../../../core/rows'
import { enrolmentKeys } from '../enrolment-keys/tables'
import { agents } from './tables'

const dayMs = 86_400_000
const expiredMs = 7 * dayMs
/** Agents that await approval ask again every ten seconds. */
const awaitingMs = 7 * dayMs
/** As long, a revoked agent gets a response that says so. */
const revokedMs = 90 * dayMs

/** Deletes agents that no longer ask for approval, those that were revoked long ago, and expired enrolment keys. */
export async function pruneAgents(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const isOld = or(
    and(eq(agents.state, 'awaiting_approval'), lt(agents.lastSeenAt, now - awaitingMs)),
    and(eq(agents.state, 'revoked'), lt(agents.lastSeenAt, now - revokedMs)),
  )
  await pruneRows(hub, agents, and(isNull(agents.serverId), lt(agents.lastSeenAt, now - awaitingMs), isOld), agents.lastSeenAt)
  // An agent that awaits approval can only be enrolled while its key exists.
  const waits = hub.read
    .select({ one: sql`1` })
    .from(agents)
    .where(and(eq(agents.enrolmentKeyId, enrolmentKeys.id), eq(agents.state, 'awaiting_approval')))
  await pruneRows(
    hub,
    enrolmentKeys,
    and(lt(enrolmentKeys.expiresAt, now - expiredMs), notExists(waits)),
    enrolmentKeys.expiresAt,
  )
}
