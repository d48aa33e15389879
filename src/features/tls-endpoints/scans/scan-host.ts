import { workspacePolicy } from '../../../access/network-policy'
import { failedScan } from '../../../checks/engine/pending-scans'
import type { AddressFacts } from '../../../checks/tls-probe/facts'
import type { HostFacts, HostScanRequest } from '../../../checks/tls-probe/host-scan'
import type { PlainHttp } from '../../../checks/tls-probe/plain-http'
import type { Hub } from '../../../core/hub'
import { parsedOrNull } from '../../../core/x509/chain'
import type { NetworkPolicy } from '../../../core/net/egress'
import { issuersOf, rootsOf } from '../../certificates/paths'
import { isPathRevoked, waitForDownloads } from '../../certificates/revocation/chain-revocation'
import { scanTls } from '../../monitors/scan-tls'
import { readChain, type ReadChain } from '../grades/chain-facts'
import { reportOf, sentenceOf, type ScannedAddress, type StoredReport } from '../grades/report'

/** The result of a scan. Times are ms UTC. */
export interface HostScan {
  startedAt: number
  durationMs: number
  report: StoredReport
  /** Chains by address, as they were sent. */
  chains: ReadonlyMap<string, readonly ReadChain[]>
  /** Addresses whose port is open, but where the server doesn’t speak TLS. */
  withoutTls: ReadonlySet<string>
  /** What answers HTTP at port 80, while the scanned port is closed; null if nothing does. Undefined if it could not be found out. */
  plainHttp: PlainHttp | null | undefined
}

/** Too many other scans are running. */
export class ScanPostponed extends Error {
  override readonly name = 'ScanPostponed'
  constructor() {
    super('Too many other scans are running.')
  }
}

type ScanTarget = Omit<HostScanRequest, 'group'>

/** Time limit of everything, in case the limits of the scanner fail. */
const scanMs = 60_000

/**
 * Scans all addresses of a host that the network policy of the workspace allows, and grades what it finds.
 * @param options.mayDownloadCrls whether revocation lists that are not stored are downloaded, which a scan by schedule leaves to a job
 * @throws ScanInterrupted if the check thread ends before the scan; ScanPostponed if it found no time to start
 */
export async function scanHost(
  hub: Hub,
  workspaceId: string,
  target: ScanTarget,
  { mayDownloadCrls = false }: { mayDownloadCrls?: boolean } = {},
): Promise<HostScan> {
  const startedAt = hub.clock.now()
  const started = performance.now()
  const { scanned, plainHttp } = await scanAddresses(hub, workspaceId, target, mayDownloadCrls)
  return {
    startedAt,
    durationMs: Math.round(performance.now() - started),
    report: reportOf(scanned),
    chains: new Map(scanned.map(one => [one.address, 'chains' in one ? one.chains : []])),
    withoutTls: new Set(scanned.filter(one => 'facts' in one && isWithoutTls(one.facts)).map(one => one.address)),
    plainHttp: plainHttp === undefined && target.asksPlainHttp && scanned.every(isUnreachable) ? undefined : (plainHttp ?? null),
  }
}

/** A server that doesn’t answer in time may do so later. */
const isWithoutTls = ({ speaks_tls, errors }: AddressFacts): boolean =>
  !speaks_tls && errors.every(one => one.phase !== 'connect' && one.kind !== 'timeout')

const isUnreachable = (one: ScannedAddress): boolean => !('facts' in one) || (!one.facts.speaks_tls && !isWithoutTls(one.facts))

async function scanAddresses(
  hub: Hub,
  workspaceId: string,
  target: ScanTarget,
  mayDownloadCrls: boolean,
): Promise<{ scanned: ScannedAddress[]; plainHttp?: PlainHttp | null }> {
  const policy = await workspacePolicy(hub.read, workspaceId, false)
  const { addresses, error, isPostponed, plain_http: plainHttp } = await factsOf(hub, { ...target, group: workspaceId }, policy)
  if (isPostponed) throw new ScanPostponed()
  if (addresses.length === 0)
    return { scanned: [{ address: '', error: sentenceOf(error?.message ?? 'The host has no addresses.') }] }
  const roots = await rootsOf(hub.read, workspaceId)
  const downloads = mayDownloadCrls ? waitForDownloads() : null
  const scanned: ScannedAddress[] = []
  for (const facts of addresses) {
    const chains: ReadChain[] = []
    for (const { certificates, versions } of facts.chains) {
      const sent = certificates.map(parsedOrNull)
      const known = await issuersOf(
        hub.read,
        workspaceId,
        sent.filter(one => one !== null),
      )
      const chain = await readChain(sent, versions, target.servername ?? target.host, { roots, known, now: facts.scanned_at })
      if (!chain) continue
      const { trust, path } = chain.verdict
      const isTrusted = trust === 'public' || trust === 'private'
      const revoked = await isPathRevoked(hub, workspaceId, path, { policy, downloads: isTrusted ? downloads : null })
      chains.push({ ...chain, facts: { ...chain.facts, revoked } })
    }
    scanned.push({ address: facts.address, facts, chains })
  }
  return { scanned, plainHttp }
}

/** Scans in real time, whatever the clock of the hub says. @throws ScanInterrupted */
async function factsOf(
  hub: Hub,
  { host, port, protocol, servername, group, asksPlainHttp }: HostScanRequest,
  policy: NetworkPolicy,
): Promise<HostFacts> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), scanMs)
  try {
    return await scanTls(hub, { host, port, protocol, servername, group, asksPlainHttp }, policy, limit.signal)
  } catch (error) {
    if (!limit.signal.aborted) throw error
    return failedScan({ kind: 'timeout', message: `The scan took longer than ${scanMs / 1000} seconds.` })
  } finally {
    clearTimeout(timer)
  }
}
