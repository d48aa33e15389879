import { and, eq, inArray, isNotNull, sql } from 'drizzle-orm'
import { forUpdate } from '../../../core/db/dialect'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import { rowsOf } from '../../../registry'
import type { LinkedState } from './shapes'
import { agents } from './tables'

/** An agent in any state. */
export type AnyAgentRow = typeof agents.$inferSelect

/** An agent that reports about a server. */
export type AgentRow = AnyAgentRow & { serverId: string; state: LinkedState }

export const agentRows = rowsOf('agent', agents, { accessTo: row => row.serverId })

/** Whether an agent reports about a server: it awaits no approval, and was not revoked. */
export const isLinked = (row: AnyAgentRow | undefined): row is AgentRow => row !== undefined && row.serverId !== null

/**
 * Whether an agent fetches commands, and sends live metrics if it is asked to. The program can always be asked to collect data; the shell
 * agent only reports, and allows nothing.
 */
export const takesCommands = ({ allow }: Pick<AnyAgentRow, 'allow'>): boolean => allow.length > 0

/** The agents of servers that take commands, without what they reported. */
export async function commandTakersOf(read: Reader, serverIds: readonly string[]) {
  const { id, serverId, workspaceId, allow } = agents
  const found = await read
    .select({ id, serverId, workspaceId, allow })
    .from(agents)
    .where(inArray(serverId, [...serverIds]))
  return found.filter(takesCommands)
}

/** Why a part that an agent can report is missing. */
export const whyNotReported = (agent: Pick<AnyAgentRow, 'allow'> | undefined): string =>
  !agent
    ? 'The server has no agent.'
    : takesCommands(agent)
      ? 'The agent has not reported this yet.'
      : 'The shell agent doesn’t report this.'

/** The agents of servers, by the ids of the servers. */
export async function agentsOf(read: Reader, rows: readonly { id: string }[]): Promise<Map<string, AgentRow>> {
  if (rows.length === 0) return new Map()
  const ids = rows.map(row => row.id)
  const found = await read.select().from(agents).where(inArray(agents.serverId, ids))
  return new Map(found.filter(isLinked).map(one => [one.serverId, one]))
}

/** The agent of a server. */
export const agentOf = async (read: Reader, id: string): Promise<AgentRow | undefined> => (await agentsOf(read, [{ id }])).get(id)

/** The agents of a workspace with these ids. */
export const agentsById = (read: Reader, workspaceId: string, ids: readonly string[]): Promise<AnyAgentRow[]> =>
  read
    .select()
    .from(agents)
    .where(and(eq(agents.workspaceId, workspaceId), inArray(agents.id, [...ids])))

/** Locks an agent that reports about a server until the transaction ends. Servers are locked before their agents. */
export async function lockAgent(tx: Tx, id: string): Promise<AgentRow | undefined> {
  const query = prepared(tx, 'agent-to-lock', handle =>
    forUpdate(
      handle
        .select()
        .from(agents)
        .where(and(eq(agents.id, sql.placeholder('id')), isNotNull(agents.serverId))),
    ),
  )
  const [row] = await query.execute({ id })
  return isLinked(row) ? row : undefined
}
