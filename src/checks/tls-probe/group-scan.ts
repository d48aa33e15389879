import type { AddressFacts, OfferedGroup, OfferedSuite, ProtocolVersion } from './facts'
import { groupOf, groups13, groupsBefore13 } from './groups'
import type { Handshakes } from './handshakes'

/**
 * Finds the groups that a server accepts, in TLS 1.3, and then others in the newest older version with ECDHE.
 * @returns primes last, and otherwise in the order in which the server chose them
 * @throws ExchangeFailed
 */
export async function groupsOffered(handshakes: Handshakes, versions: AddressFacts['versions']): Promise<OfferedGroup[]> {
  const found: OfferedGroup[] = []
  const in13 = versions['1.3']
  if (in13.status === 'offered') {
    // Both at the same time, because each answer takes as long as the line is slow.
    const parts = [groups13.filter(id => !isPrime(id)), groups13.filter(isPrime)]
    const scans = await Promise.allSettled(parts.map(part => eliminate(handshakes, '1.3', in13.suites, part, [])))
    // Not before both have ended, so that no connection outlives the scan.
    for (const scan of scans) {
      if (scan.status === 'rejected') throw scan.reason
      found.push(...scan.value)
    }
  }
  for (const version of ['1.2', '1.1', '1.0', 'ssl3'] as const) {
    const older = versions[version]
    const suites = older.status === 'offered' ? older.suites.filter(one => one.key_exchange === 'ecdhe') : []
    if (suites.length === 0) continue
    found.push(...(await eliminate(handshakes, version, suites, groupsBefore13, found)))
    break
  }
  return found
}

const isPrime = (id: number): boolean => groupOf.get(id)!.kind === 'dh'

/** @param groups the ones to look for @param known groups that need not be offered */
async function eliminate(
  handshakes: Handshakes,
  version: Exclude<ProtocolVersion, 'ssl2'>,
  suites: readonly OfferedSuite[],
  groups: readonly number[],
  known: readonly OfferedGroup[],
): Promise<OfferedGroup[]> {
  const offered = groups.map(id => groupOf.get(id)!).filter(one => !known.includes(one))
  const found: OfferedGroup[] = []
  const add = (name: string | null | undefined): boolean => {
    const group = offered.find(one => one.name === name)
    if (group && !found.includes(group)) found.push(group)
    return group !== undefined
  }
  // The scan of suites has found the first ones already.
  for (const { ephemeral } of suites) add(ephemeral?.group)
  for (;;) {
    const remaining = offered.filter(one => !found.includes(one)).map(one => one.id)
    if (remaining.length === 0) return found
    const outcome = await handshakes.start({ version, suites: suites.map(one => one.id), groups: remaining })
    const hasChosen = outcome.kind === 'accepted' && outcome.flight.version === version && add(outcome.flight.ephemeral?.group)
    if (!hasChosen) return found
  }
}
