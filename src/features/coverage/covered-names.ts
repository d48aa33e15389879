import type { KnownCertificate } from '../certificates/known'
import type { ScannedEndpoint } from './gaps'
import { coverOf, type Cause, type Covered, type ExpectedName } from './names'

/** An expected name with the certificate that covers it. */
export interface CoveredName {
  name: string
  zoneId: string | null
  because: readonly Cause[]
  covered: Covered
  /** The valid certificate that covers it, one in use if possible; null if there is none. */
  certificateId: string | null
  /** When that certificate ends (ms UTC). */
  validUntil: number | null
  /** TLS endpoints of the name. */
  endpointIds: readonly string[]
}

/** Finds the valid certificate of each expected name, in steps. @param now ms UTC */
export function* coveredNames(
  expected: ReadonlyMap<string, ExpectedName>,
  certificates: Iterable<KnownCertificate>,
  endpoints: Iterable<Pick<ScannedEndpoint, 'id' | 'host' | 'servername'>>,
  now: number,
): Generator<void, CoveredName[]> {
  const best = new Map<string, KnownCertificate>()
  let steps = 0
  for (const one of certificates) {
    if (!isValid(one, now)) continue
    for (const name of one.names) {
      const other = best.get(name)
      if (!other || isBetter(one, other)) best.set(name, one)
      if (++steps % stepSize === 0) yield
    }
  }
  const endpointsOf = Map.groupBy(endpoints, one => one.servername ?? one.host)
  yield
  const found: CoveredName[] = []
  for (const { name, zoneId, because } of expected.values()) {
    const covered = coverOf(name, best)
    const own = covered === 'none' ? null : best.get(covered === 'full' ? name : name.replace(/^[^.]+/, '*'))!
    const endpointIds = (endpointsOf.get(name) ?? []).map(one => one.id)
    found.push({ name, zoneId, because, covered, certificateId: own?.id ?? null, validUntil: own?.notAfter ?? null, endpointIds })
    if (++steps % stepSize === 0) yield
  }
  return found
}

const stepSize = 200

const isValid = (one: KnownCertificate, now: number): boolean =>
  one.notBefore <= now && one.notAfter > now && one.revokedAt === null && (one.trust === 'public' || one.trust === 'private')

const isBetter = (one: KnownCertificate, other: KnownCertificate): boolean =>
  one.inUse === other.inUse ? one.notAfter > other.notAfter : one.inUse
