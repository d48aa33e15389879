import type { EndpointCertificate } from '../certificates/known'
import type { LastScan } from '../tls-endpoints/last-scans'
import type { ScannedEndpoint } from './gaps'

/**
 * Joins the last scans with the certificates that were seen before. An address that could not be scanned keeps the certificate that it
 * presented when it was last seen, so that its gaps are neither resolved nor confirmed by a failed scan. Works in steps.
 */
export function* scannedEndpoints(
  scans: readonly LastScan[],
  seen: readonly EndpointCertificate[],
): Generator<void, ScannedEndpoint[]> {
  const seenAt = Map.groupBy(seen, one => one.endpointId)
  yield
  const found: ScannedEndpoint[] = []
  for (const { id, host, port, servername, lastScanAt, hasFailed, isChainIncomplete, addresses, plainHttp } of scans) {
    const before = new Map((seenAt.get(id) ?? []).map(one => [one.address, one]))
    const earlier = (address: string) => {
      const one = before.get(address)
      return { address, certificateId: one?.certificateId ?? null, isOpen: one !== undefined, seenAt: one?.lastSeenAt ?? null }
    }
    const now = addresses.map(({ address, state, certificate_id: certificateId }) =>
      state === 'unreachable' ? earlier(address) : { address, certificateId, isOpen: true, seenAt: lastScanAt },
    )
    found.push({
      ...{ id, host, port, servername, isChainIncomplete, plainHttp },
      // Without an address, the name could not be resolved.
      addresses: lastScanAt !== null && now.length === 0 ? [...before.keys()].map(earlier) : now,
      scannedAt: hasFailed ? latest([...before.values()].map(one => one.lastSeenAt)) : lastScanAt,
    })
    if (found.length % 200 === 0) yield
  }
  return found
}

const latest = (times: readonly number[]): number | null => (times.length > 0 ? Math.max(...times) : null)
