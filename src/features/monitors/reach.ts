import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { parseAddress } from '../../core/net/address'
import { EgressRefused, networkPolicy, type NetworkPolicy } from '../../core/net/egress'
import { canonicalHost, isPrivateName } from '../../core/net/host-name'
import { egressOf } from '../../core/net/hub-egress'
import { invalid } from '../../core/problem'
import type { MonitorType } from './monitor-types'
import { destinations, optionSecrets, type Asked } from './options'

/** Where the checks of a workspace may go. */
export async function policyOf(read: Reader, workspaceId: string, carriesSecret: boolean): Promise<NetworkPolicy> {
  const [row] = await read.select({ stored: workspaces.networkPolicy }).from(workspaces).where(eq(workspaces.id, workspaceId))
  return networkPolicy(row!.stored, { carriesSecret })
}

/**
 * Refuses servers that the network policy of the workspace will never let pass: an address, or a name that means one's own network.
 * Other names are looked up by each check alone, since they change where they lead. Nothing is asked here.
 * @throws Problem 422 at `#/target` or an option, naming the class of what is wrong
 */
export async function refuseUnreachable(ctx: Ctx, read: Reader, type: MonitorType, asked: Asked): Promise<void> {
  const servers = serversOf(type, asked)
  if (servers.length === 0) return
  const carriesSecret = Object.keys(optionSecrets(type, asked.options)).length > 0
  const policy = await policyOf(read, ctx.workspaceId, carriesSecret)
  for (const server of servers) await refuseClosed(ctx, policy, server)
}

interface Server {
  pointer: string
  host: string
  port: number
  /** Whether what is said to it can be read on the way. */
  isPlain: boolean
}

async function refuseClosed(ctx: Ctx, policy: NetworkPolicy, { pointer, host: named, port, isPlain }: Server): Promise<void> {
  const refused = (code: string, message: string) => invalid([{ pointer, code, detail: `is refused (${code}). ${message}` }])
  const host = canonicalHost(named)
  if (host === null) throw refused('invalid_url', 'The host is neither a host name nor an IP address.')
  if (policy.requireHttps && isPlain && policy.allowRanges.length === 0)
    throw refused('invalid_url', 'A secret travels with it, so the URL must use https.')
  const isOpenName = policy.allowPrivate || policy.allowRanges.length > 0 || !isPrivateName(host)
  if (!parseAddress(host) && isOpenName) return
  try {
    await egressOf(ctx.hub).vetHost(host, port, policy)
  } catch (error) {
    if (!(error instanceof EgressRefused)) throw error
    throw refused(error.errorClass, error.message)
  }
}

/** The servers that a check connects to by what is written down: that of its target, and those of its options. */
function serversOf(type: MonitorType, { target, options }: Asked): Server[] {
  const said = new Map(destinations(type, options))
  const others: Server[] = [...said].flatMap(([pointer, value]) => {
    const url = typeof value === 'string' && value.includes('://') ? URL.parse(value) : null
    return url ? [{ ...urlServer(url), pointer: `#/options${pointer}` }] : []
  })
  const bastion = said.get('/ssh_tunnel/host')
  if (typeof bastion === 'string') {
    const port = Number(said.get('/ssh_tunnel/port') ?? 22)
    others.push({ host: bastion, port, isPlain: false, pointer: '#/options/ssh_tunnel/host' })
  }
  // A proxy or a server of SSH is connected to instead of the target, which it looks up itself.
  const isBehind = others.some(one => /^#\/options\/(proxy|ssh_tunnel)\//.test(one.pointer))
  if (isBehind || type.name === 'group' || type.name === 'dns') return others
  const url = target.includes('://') ? URL.parse(target) : null
  if (url) return [{ ...urlServer(url), pointer: '#/target' }, ...others]
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(target) ?? []
  return [{ host: bracketed ?? named ?? target, port: Number(port ?? 1), isPlain: false, pointer: '#/target' }, ...others]
}

function urlServer(url: URL): { host: string; port: number; isPlain: boolean } {
  const isPlain = url.protocol === 'http:' || url.protocol === 'ws:'
  return { host: url.hostname, port: Number(url.port || (isPlain ? 80 : url.protocol.startsWith('socks') ? 1080 : 443)), isPlain }
}
