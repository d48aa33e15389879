import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../core/ctx'
import { prepared } from '../core/db/prepared'
import type { Reader } from '../core/db/transaction'
import { EgressRefused, networkPolicy, type NetworkPolicy } from '../core/net/egress'
import { egressOf } from '../core/net/hub-egress'
import { invalid, type FieldProblem } from '../core/problem'
import { workspaces } from './tables'

export type StoredPolicy = typeof workspaces.$inferSelect.networkPolicy

/** The current network policy of a workspace. */
export async function storedPolicy(read: Reader, workspaceId: string): Promise<StoredPolicy> {
  const find = prepared(read, 'network-policy', handle =>
    handle
      .select({ stored: workspaces.networkPolicy })
      .from(workspaces)
      .where(eq(workspaces.id, sql.placeholder('workspaceId'))),
  )
  const [row] = await find.execute({ workspaceId })
  return row!.stored
}

/** The current network policy of a workspace for connections of a kind. */
export const workspacePolicy = async (read: Reader, workspaceId: string, carriesSecret: boolean): Promise<NetworkPolicy> =>
  networkPolicy(await storedPolicy(read, workspaceId), { carriesSecret })

/** The problem for a refused destination. Never contains an address. */
export const destinationProblem = (pointer: string, { errorClass, message }: EgressRefused): FieldProblem => ({
  pointer,
  code: errorClass,
  detail: `is not allowed. ${message}`,
})

/**
 * Refuses a URL that the workspace may not call. The URL is checked again before each attempt, because DNS names can change.
 * @throws Problem 422 at `#/url` with the error class, never with an address
 */
export async function refuseForbiddenUrl(ctx: Ctx, url: string): Promise<void> {
  const policy = await workspacePolicy(ctx.hub.read, ctx.workspaceId, true)
  try {
    await egressOf(ctx.hub).vetUrl(url, policy)
  } catch (error) {
    throw error instanceof EgressRefused ? invalid([destinationProblem('#/url', error)]) : error
  }
}
