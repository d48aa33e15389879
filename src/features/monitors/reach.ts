import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { parseAddress } from '../../core/net/address'
import { EgressRefused, networkPolicy, type NetworkPolicy } from '../../core/net/egress'
import { canonicalHost, isPrivateName } from '../../core/net/host-name'
import { egressOf } from '../../core/net/hub-egress'
import { invalid } from '../../core/problem'
import type { MonitorTypeName } from './monitor-types'

/** Where the checks of a workspace may go. */
export async function policyOf(read: Reader, workspaceId: string, carriesSecret: boolean): Promise<NetworkPolicy> {
  const [row] = await read.select({ stored: workspaces.networkPolicy }).from(workspaces).where(eq(workspaces.id, workspaceId))
  return networkPolicy(row!.stored, { carriesSecret })
}

/**
 * Refuses a target that the network policy of the workspace will never let pass: an address, or a name that means one's own network.
 * Other names are looked up by each check alone, since they change where they lead. Nothing is asked here.
 * @throws Problem 422 at `#/target`, naming the class of what is wrong
 */
export async function refuseUnreachable(
  ctx: Ctx,
  read: Reader,
  { type, target, carriesSecret }: { type: MonitorTypeName; target: string; carriesSecret: boolean },
): Promise<void> {
  const dialled = dialledBy(type, target)
  if (!dialled) return
  const policy = await policyOf(read, ctx.workspaceId, carriesSecret)
  const host = canonicalHost(dialled.host)
  if (host === null) throw refused('invalid_url', 'The host is neither a host name nor an IP address.')
  if (policy.requireHttps && dialled.isPlain && policy.allowRanges.length === 0)
    throw refused('invalid_url', 'A secret travels with it, so the URL must use https.')
  const isOpenName = policy.allowPrivate || policy.allowRanges.length > 0 || !isPrivateName(host)
  if (!parseAddress(host) && isOpenName) return
  try {
    await egressOf(ctx.hub).vetHost(host, dialled.port, policy)
  } catch (error) {
    if (!(error instanceof EgressRefused)) throw error
    throw refused(error.errorClass, error.message)
  }
}

const refused = (code: string, message: string) =>
  invalid([{ pointer: '#/target', code, detail: `is refused (${code}). ${message}` }])

/** The server that a target names; null where it names none. */
function dialledBy(type: MonitorTypeName, target: string): { host: string; port: number; isPlain: boolean } | null {
  if (type === 'group' || type === 'dns') return null
  const url = target.includes('://') ? URL.parse(target) : null
  if (url) {
    const isPlain = url.protocol === 'http:' || url.protocol === 'ws:'
    return { host: url.hostname, port: Number(url.port || (isPlain ? 80 : 443)), isPlain }
  }
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(target) ?? []
  return { host: bracketed ?? named ?? target, port: Number(port ?? 1), isPlain: false }
}
