import { and, asc, eq, gt, inArray, isNull } from 'drizzle-orm'
import type { ScanProtocol } from '../../checks/tls-probe/facts'
import { batchesOf } from '../../core/db/rows-in-batches'
import type { Reader } from '../../core/db/transaction'
import type { AddressGrade } from './shapes'
import { tlsEndpoints } from './tables'
import type { TlsEndpointRow } from './view'

/** What the last scan of an endpoint found. */
export interface LastScan {
  id: string
  host: string
  port: number
  protocol: ScanProtocol
  servername: string | null
  origin: TlsEndpointRow['origin']
  /** When it started (ms UTC); null if there was none. */
  lastScanAt: number | null
  hasFailed: boolean
  /** From the last scan that succeeded. */
  isChainIncomplete: boolean
  addresses: readonly AddressGrade[]
  /** What answered HTTP at port 80 while the port was closed at all addresses, and when that was last seen (ms UTC). */
  plainHttp: TlsEndpointRow['plainHttp']
}

const rowsPerPage = 200

/** Reads the TLS endpoints of a workspace with their last scans, page by page, without those that are about to be deleted. */
export async function lastScansOf(read: Reader, workspaceId: string): Promise<LastScan[]> {
  const { id, host, port, protocol, servername, origin, lastScanAt, failures, chain, addresses, plainHttp } = tlsEndpoints
  const found: LastScan[] = []
  const page = (after: string, max: number) =>
    read
      .select({ id, host, port, protocol, servername, origin, lastScanAt, failures, chain, addresses, plainHttp })
      .from(tlsEndpoints)
      .where(and(eq(tlsEndpoints.workspaceId, workspaceId), isNull(tlsEndpoints.goneAt), gt(id, after)))
      .orderBy(asc(id))
      .limit(max)
  for await (const rows of batchesOf(page, row => row.id, rowsPerPage))
    for (const { failures: failed, chain: state, ...row } of rows)
      found.push({ ...row, hasFailed: failed > 0, isChainIncomplete: state === 'incomplete' })
  return found
}

/** The TLS endpoints of a workspace with these IDs, as subjects of incidents. */
export async function endpointSubjects(read: Reader, workspaceId: string, ids: readonly string[]) {
  const own = ids.filter(id => id.startsWith('tls_'))
  if (own.length === 0) return []
  const { id, host, port, servername, tags } = tlsEndpoints
  const rows = await read
    .select({ id, host, port, servername, tags })
    .from(tlsEndpoints)
    .where(and(eq(tlsEndpoints.workspaceId, workspaceId), inArray(id, own)))
  return rows.map(row => {
    const name = `${row.servername ?? row.host}:${row.port}`
    return { type: 'tls_endpoint' as const, id: row.id, name, tags: row.tags, target: row.servername ?? row.host }
  })
}
