import { and, asc, count, eq, isNull, ne } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import { countsByWord } from '../../../core/db/counts'
import type { Reader } from '../../../core/db/transaction'
import { servers } from '../tables'
import { agentStates } from './shapes'
import { agents } from './tables'

export interface AgentCounts {
  by_state: Record<(typeof agentStates)[number], number>
  /** Agents that don’t report although their servers are not down. */
  silent: { id: string; server_id: string; name: string; silent_since_at: string | null }[]
}

/** Counts the agents of a workspace by state, and finds those that are silent for another reason than their servers, by name. */
export async function countAgents(read: Reader, workspaceId: string, maxSilent: number): Promise<AgentCounts> {
  const rows = await read
    .select({ word: agents.state, n: count() })
    .from(agents)
    .where(eq(agents.workspaceId, workspaceId))
    .groupBy(agents.state)
  const silent = await read
    .select({ id: agents.id, serverId: servers.id, name: servers.name, silentAt: agents.silentAt })
    .from(agents)
    .innerJoin(servers, eq(servers.id, agents.serverId))
    .where(
      and(
        ...[eq(agents.workspaceId, workspaceId), eq(agents.state, 'silent')],
        ...[ne(servers.health, 'down'), isNull(servers.deletedAt)],
      ),
    )
    .orderBy(asc(servers.name), asc(servers.id))
    .limit(maxSilent)
  return {
    by_state: countsByWord(agentStates, rows),
    silent: silent.map(({ id, serverId, name, silentAt }) => ({
      ...{ id, server_id: serverId, name },
      silent_since_at: instant(silentAt),
    })),
  }
}

/** Servers of a workspace whose agents report. */
export const reportingServers = (read: Reader, workspaceId: string, max: number): Promise<{ id: string; name: string }[]> =>
  read
    .select({ id: servers.id, name: servers.name })
    .from(agents)
    .innerJoin(servers, eq(servers.id, agents.serverId))
    .where(and(eq(agents.workspaceId, workspaceId), eq(agents.state, 'reporting'), isNull(servers.deletedAt)))
    .orderBy(asc(agents.id))
    .limit(max)
