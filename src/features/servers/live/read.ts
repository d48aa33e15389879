import { and, eq, inArray, isNull } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { accessCondition } from '../../../core/resource-access'
import { findRow } from '../../../core/rows'
import { liveIntervalMs } from '../../../wire/agent-limits'
import { agentOf, commandTakersOf, takesCommands, type AgentRow } from '../agents/rows'
import { unitOf } from '../metrics/names'
import { servers } from '../tables'
import { serverRows } from '../view'
import type { LiveRow } from './live-rows'
import { liveServersOf } from './live-servers'
import type { ServerLiveQuery, ServerLiveView } from './shapes'

/** Until then, the agent may have started to send. */
const startMs = 15_000
/** Rows that are this old are not live. */
const currentMs = 5 * liveIntervalMs

/**
 * Returns what a server does now. Its agent sends that for a minute after the last time that this was called.
 * @throws Problem 404, 429, 503
 */
export async function readLive(ctx: Ctx, id: string, { after }: ServerLiveQuery): Promise<ServerLiveView> {
  const { hub } = ctx
  const server = await findRow(hub.read, ctx, serverRows, id)
  const agent = await agentOf(hub.read, id)
  const live = liveServersOf(hub)
  if (agent && takesCommands(agent)) live.watch(server, agent.id)
  const { rows, processes, since } = live.rowsOf(id)
  const now = hub.clock.now()
  const isRunning = now - (rows.at(-1)?.at ?? 0) <= currentMs
  const reason = isRunning ? null : whyNot(agent, now - Math.max(since, rows.at(-1)?.at ?? 0))
  return {
    state: isRunning ? 'running' : reason === null ? 'starting' : 'unavailable',
    reason,
    interval_seconds: liveIntervalMs / 1000,
    rows: rows.filter(row => after === undefined || row.at > Date.parse(after)).map(rowView),
    processes: [...processes],
    units: Object.fromEntries(
      Object.keys(rows.at(-1)?.metrics ?? {}).map(column => {
        const name = column.split(':')[0]!
        return [name, unitOf(name)]
      }),
    ),
  }
}

/** Why nothing arrives. Null if it may still. @param waitedMs since the agent was asked */
function whyNot(agent: AgentRow | undefined, waitedMs: number): string | null {
  if (!agent) return 'The server has no agent.'
  if (!takesCommands(agent)) return 'The shell agent sends no live metrics.'
  if (agent.state === 'silent') return 'The agent has stopped reporting.'
  if (agent.state === 'stopped') return 'The agent was stopped.'
  return waitedMs < startMs ? null : 'The agent was asked, but sends nothing. It may be too old for live metrics.'
}

const rowView = ({ at, metrics }: LiveRow) => ({ at: instant(at), metrics })

/** A server with its last live row, for live updates. */
type WatchedServer = ServerLiveView['rows'][number] & Pick<ServerLiveView, 'processes'> & { id: string }

/** Returns those of the given servers that the caller has access to. */
export async function serversToWatch(ctx: Ctx, ids: readonly string[]): Promise<string[]> {
  const rows = await ctx.hub.read
    .select({ id: servers.id })
    .from(servers)
    .where(
      and(
        ...[eq(servers.workspaceId, ctx.workspaceId), inArray(servers.id, [...ids])],
        ...[isNull(servers.deletedAt), accessCondition(ctx, servers.id)],
      ),
    )
  return rows.map(row => row.id)
}

/** Returns the last live rows of servers. */
export const liveRowsToWatch = async (hub: Hub, ids: readonly string[]): Promise<WatchedServer[]> =>
  ids.flatMap(id => {
    const { rows, processes } = liveServersOf(hub).rowsOf(id)
    const last = rows.at(-1)
    return last ? [{ id, ...rowView(last), processes: [...processes] }] : []
  })

/** Lets the agents of servers continue to send live rows, while a client streams them. */
export async function keepLive(hub: Hub, ids: readonly string[]): Promise<void> {
  const live = liveServersOf(hub)
  const due = live.takeDue(ids)
  if (due.length === 0) return
  for (const agent of await commandTakersOf(hub.read, due))
    try {
      live.watch({ id: agent.serverId!, workspaceId: agent.workspaceId }, agent.id)
    } catch (error) {
      // Too many servers are watched. Those of others continue.
      if (!(error instanceof Problem)) throw error
    }
}
