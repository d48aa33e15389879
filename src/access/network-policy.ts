import { eq, sql } from 'drizzle-orm'
import type { Ctx } from '../core/ctx'
import { prepared } from '../core/db/prepared'
import type { Reader } from '../core/db/transaction'
import { parseAddress } from '../core/net/address'
import { EgressRefused, networkPolicy, type NetworkPolicy, type Purpose } from '../core/net/egress'
import { canonicalHost, isPrivateName } from '../core/net/host-name'
import { egressOf } from '../core/net/hub-egress'
import { invalid, type FieldProblem, type Problem } from '../core/problem'
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

/** A host that is connected to later. */
interface LaterHost {
  /** Where it is in the request. */
  pointer: string
  host: string
  port: number
  purpose?: Purpose
}

/**
 * Refuses a host that a policy never allows: IP addresses, and names that always refer to a private network. Other names are resolved
 * for each connection, because their addresses can change. Sends no requests.
 * @throws Problem 422 with the class of the error
 */
export async function refuseForbiddenHost(
  { hub }: Pick<Ctx, 'hub'>,
  policy: NetworkPolicy,
  { pointer, host: named, port, purpose }: LaterHost,
): Promise<void> {
  const host = canonicalHost(named)
  if (host === null) throw forbiddenHost(pointer, 'The host is neither a hostname nor an IP address.')
  const isOpenName = policy.allowPrivate || policy.allowRanges.length > 0 || !isPrivateName(host)
  if (!parseAddress(host) && isOpenName && host !== 'localhost') return
  try {
    await egressOf(hub).vetHost(host === 'localhost' ? '127.0.0.1' : host, port, policy, purpose)
  } catch (error) {
    if (!(error instanceof EgressRefused)) throw error
    if (host === 'localhost' && isOpenName && !error.isSelf) return
    throw invalid([destinationProblem(pointer, error)])
  }
}

export const forbiddenHost = (pointer: string, message: string): Problem =>
  invalid([{ pointer, code: 'invalid_url', detail: `is not allowed. ${message}` }])
