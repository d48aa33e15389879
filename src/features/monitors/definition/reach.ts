import { parseServer } from '../../../checks/dns/server'
import { parseResolver } from '../../../checks/http/resolver'
import { forbiddenHost, refuseForbiddenHost, workspacePolicy } from '../../../access/network-policy'
import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'
import type { NetworkPolicy, Purpose } from '../../../core/net/egress'
import type { MonitorType } from './types'
import { destinations, optionSecrets, type TargetAndOptions } from './options'

/**
 * Rejects servers that the network policy of the workspace never allows: IP addresses, and names that always refer to a private
 * network. Other names are resolved only when a check runs, since they can change. Sends no requests.
 * @throws Problem 422 at `#/target` or an option, with the class of the error
 */
export async function refuseUnreachable(ctx: Ctx, read: Reader, type: MonitorType, input: TargetAndOptions): Promise<void> {
  const servers = serversOf(type, input)
  if (servers.length === 0) return
  const carriesSecret = Object.keys(optionSecrets(type, input.options)).length > 0
  const policy = await workspacePolicy(read, ctx.workspaceId, carriesSecret)
  for (const server of servers) await refuseClosed(ctx, policy, server)
}

interface Server {
  pointer: string
  host: string
  port: number
  /** Whether the connection is unencrypted. */
  isPlain: boolean
  purpose?: Purpose
}

async function refuseClosed(ctx: Ctx, policy: NetworkPolicy, server: Server): Promise<void> {
  if (policy.requireHttps && server.isPlain && policy.allowRanges.length === 0)
    throw forbiddenHost(server.pointer, 'The URL must use https, because the check sends a secret.')
  await refuseForbiddenHost(ctx, policy, server)
}

/** The host that a check connects to; null if it connects to another one, such as a proxy, first. */
export const targetHost = (type: MonitorType, input: TargetAndOptions): string | null =>
  serversOf(type, input).find(one => one.pointer === '#/target')?.host ?? null

/** The servers a check connects to according to its target and options. */
function serversOf(type: MonitorType, { target, options }: TargetAndOptions): Server[] {
  const configured = new Map(destinations(type, options))
  const others: Server[] = [...configured].flatMap(([pointer, value]) => {
    if (pointer === '/resolver') return typeof value === 'string' ? nameServer(type, value, options) : []
    const url = typeof value === 'string' && value.includes('://') ? URL.parse(value) : null
    return url ? [{ ...urlServer(url), pointer: `#/options${pointer}` }] : []
  })
  const bastion = configured.get('/ssh_tunnel/host')
  if (typeof bastion === 'string') {
    const port = Number(configured.get('/ssh_tunnel/port') ?? 22)
    others.push({ host: bastion, port, isPlain: false, pointer: '#/options/ssh_tunnel/host' })
  }
  // With a proxy or an SSH tunnel, the hub connects only to that, and it resolves the target itself.
  const isBehind = others.some(one => /^#\/options\/(proxy|ssh_tunnel)\//.test(one.pointer))
  if (isBehind || type.name === 'group' || type.name === 'server' || type.name === 'dns') return others
  const url = target.includes('://') ? URL.parse(target) : null
  if (url) return [{ ...urlServer(url), pointer: '#/target' }, ...others]
  const [, bracketed, named, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(target) ?? []
  return [{ host: bracketed ?? named ?? target, port: Number(port ?? 1), isPlain: false, pointer: '#/target' }, ...others]
}

/** The name server in an option: with its own transport in monitors of the type `dns`, in the notation of HTTP checks otherwise. */
function nameServer(type: MonitorType, resolver: string, options: TargetAndOptions['options']): Server[] {
  const input: Parameters<typeof parseServer>[0] = type.name === 'dns' ? options : parseResolver(resolver)
  const server = parseServer(input)
  if (!server) return []
  const purpose = ['dot', 'doh'].includes(input.transport ?? 'udp') ? 'any' : 'dns_query'
  return [{ host: server.host, port: server.port, isPlain: false, purpose, pointer: '#/options/resolver' }]
}

function urlServer(url: URL): { host: string; port: number; isPlain: boolean } {
  const isPlain = url.protocol === 'http:' || url.protocol === 'ws:'
  return { host: url.hostname, port: Number(url.port || (isPlain ? 80 : url.protocol.startsWith('socks') ? 1080 : 443)), isPlain }
}
