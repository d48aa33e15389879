import { and, asc, count, eq, inArray, isNull, or } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countsByWord } from '../../core/db/counts'
import { listCloudAccounts } from './accounts/accounts'
import { countAgents, type AgentCounts } from './agents/counts'
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
  agents: AgentCounts
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
    agents: await countAgents(hub.read, workspaceId, maxFailing),
  }
}

/** What each cloud account with prices costs per month. */
export const spendSummary = async (ctx: Ctx) =>
  (await listCloudAccounts(ctx, {})).data.flatMap(({ id, name, committed, spend }) =>
    committed.monthly === null
      ? []
      : [{ account_id: id, name, monthly: committed.monthly, currency: committed.currency, monthly_cap: spend.monthly_cap }],
  )
