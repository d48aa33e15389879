import { and, asc, eq, gt, inArray } from 'drizzle-orm'
import { parseHostPort } from '../../checks/host-port'
import type { ScanProtocol } from '../../checks/tls-probe/facts'
import { batchesOf } from '../../core/db/rows-in-batches'
import type { Reader } from '../../core/db/transaction'
import { parseAddress } from '../../core/net/address'
import { canonicalHost } from '../../core/net/host-name'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { targetHost } from './definition/reach'
import { monitorTypeOf } from './definition/types'
import { monitors } from './tables'

/** A server that a monitor connects to with TLS. */
interface TlsTarget {
  workspaceId: string
  host: string
  port: number
  protocol: ScanProtocol
  servername: string | null
}

const types = ['http', 'websocket', 'tls', 'smtp', 'imap', 'pop3'] as const
const implicitPorts = { smtp: 465, imap: 993, pop3: 995 } as const
/** Each row has options as JSON, which are parsed in one turn of the event loop. */
const rowsPerPage = 200

/**
 * All servers that monitors connect to with TLS, without those behind a proxy or an SSH tunnel.
 * @param only the workspace of the monitors; all workspaces if absent
 */
export async function tlsTargets(read: Reader, only?: string): Promise<TlsTarget[]> {
  const found: TlsTarget[] = []
  const { id, workspaceId, type, target, options } = monitors
  const page = (after: string, max: number) =>
    read
      .select({ id, workspaceId, type, target, options })
      .from(monitors)
      .where(and(gt(id, after), inArray(type, [...types]), only === undefined ? undefined : eq(workspaceId, only)))
      .orderBy(asc(id))
      .limit(max)
  for await (const rows of batchesOf(page, row => row.id, rowsPerPage)) found.push(...rows.flatMap(row => targetOf(row) ?? []))
  return found
}

/** The servers that some monitors connect to with TLS, by monitor. Monitors of other kinds are missing. */
export async function tlsTargetsOf(read: Reader, monitorIds: readonly string[]): Promise<Map<string, TlsTarget>> {
  const found = new Map<string, TlsTarget>()
  const { id, workspaceId, type, target, options } = monitors
  for (let at = 0; at < monitorIds.length; at += rowsPerPage) {
    const rows = await read
      .select({ id, workspaceId, type, target, options })
      .from(monitors)
      .where(and(inArray(id, monitorIds.slice(at, at + rowsPerPage)), inArray(type, [...types])))
    for (const row of rows) {
      const one = targetOf(row)
      if (one) found.set(row.id, one)
    }
    if (isTurnOver()) await yieldToEventLoop()
  }
  return found
}

type Row = Pick<typeof monitors.$inferSelect, 'workspaceId' | 'type' | 'target' | 'options'>

function targetOf({ workspaceId, type, target, options }: Row): TlsTarget | null {
  if (targetHost(monitorTypeOf(type), { target, options }) === null) return null
  const { server_name: named, tls } = options as { server_name?: string; tls?: 'none' | 'starttls' | 'implicit' }
  const name = named === undefined ? null : canonicalHost(named)
  const servername = name !== null && !parseAddress(name) ? name : null
  const of = (host: string, port: number, protocol: ScanProtocol): TlsTarget | null => {
    const canonical = canonicalHost(host)
    if (canonical === null) return null
    return { workspaceId, host: canonical, port, protocol, servername: servername === canonical ? null : servername }
  }
  if (type === 'http' || type === 'websocket') {
    const url = URL.parse(target)
    return url?.protocol === 'https:' || url?.protocol === 'wss:' ? of(url.hostname, Number(url.port || 443), 'tls') : null
  }
  const { host, port } = parseHostPort(target, 443)
  if (type !== 'smtp' && type !== 'imap' && type !== 'pop3') return of(host, port, 'tls')
  const mode = tls ?? (port === implicitPorts[type] ? 'implicit' : 'none')
  return mode === 'none' ? null : of(host, port, mode === 'implicit' ? 'tls' : type)
}
