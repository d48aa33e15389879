import { and, eq, inArray } from 'drizzle-orm'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { agents } from './tables'

export type AgentRow = typeof agents.$inferSelect

/** The agents of servers, by the ids of the servers. */
export async function agentsOf(read: Reader, rows: readonly { id: string }[]): Promise<Map<string, AgentRow>> {
  if (rows.length === 0) return new Map()
  const ids = rows.map(row => row.id)
  const found = await read.select().from(agents).where(inArray(agents.serverId, ids))
  return new Map(found.map(one => [one.serverId, one]))
}

/** The agents of a workspace with these ids. */
export const agentsById = (read: Reader, workspaceId: string, ids: readonly string[]): Promise<AgentRow[]> =>
  read
    .select()
    .from(agents)
    .where(and(eq(agents.workspaceId, workspaceId), inArray(agents.id, [...ids])))

/** Locks an agent until the transaction ends. Servers are locked before their agents. */
export const lockAgent = async (tx: Tx, id: string): Promise<AgentRow | undefined> =>
  (await forUpdate(tx.select().from(agents).where(eq(agents.id, id))))[0]
