import { and, asc, count, eq, inArray, isNull, ne, or } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { countsByWord } from '../../core/db/counts'
import type { Hub } from '../../core/hub'
import { listCloudAccounts } from './accounts/accounts'
import { agentStates } from './agents/shapes'
import { agents } from './agents/tables'
import { fillingFileSystems } from './filling'
import { serverViews } from './servers'
import { serverHealths, type ServerHealth, type ServerView } from './shapes'
import { servers } from './tables'

interface ServerSummary {
  total: number
  by_health: Record<ServerHealth, number>
  /** Servers that are down, missing, or whose last action failed. */
  failing: ServerView[]
  filling: Awaited<ReturnType<typeof fillingFileSystems>>
  agents: {
    by_state: Record<(typeof agentStates)[number], number>
    /** Agents that don’t report although their servers are not down. */
    silent: { id: string; server_id: string; name: string; silent_since_at: string | null }[]
  }
}

/** Counts the servers of the workspace by health and their agents by state, and finds those with issues, by name. */
export async function serverSummary({ hub, workspaceId }: Ctx, maxFailing: number): Promise<ServerSummary> {
  const own = and(eq(servers.workspaceId, workspaceId), isNull(servers.deletedAt))
  const rows = await hub.read.select({ word: servers.health, n: count() }).from(servers).where(own).groupBy(servers.health)
  const failing = await hub.read
    .select()
    .from(servers)
    .where(and(own, or(eq(servers.health, 'down'), inArray(servers.status, ['missing', 'error']))))
    .orderBy(asc(servers.name), asc(servers.id))
    .limit(maxFailing)
  return {
    total: rows.reduce((sum, row) => sum + row.n, 0),
    by_health: countsByWord(serverHealths, rows),
    failing: await serverViews(hub.read, failing),
    filling: (await fillingFileSystems(hub, workspaceId)).slice(0, maxFailing),
    agents: await agentSummary(hub, workspaceId, maxFailing),
  }
}

async function agentSummary({ read }: Hub, workspaceId: string, maxSilent: number): Promise<ServerSummary['agents']> {
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

/** What each cloud account with prices costs per month. */
export const spendSummary = async (ctx: Ctx) =>
  (await listCloudAccounts(ctx, {})).data.flatMap(({ id, name, committed, spend }) =>
    committed.monthly === null
      ? []
      : [{ account_id: id, name, monthly: committed.monthly, currency: committed.currency, monthly_cap: spend.monthly_cap }],
  )
