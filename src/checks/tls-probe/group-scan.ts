import type { AddressFacts, OfferedGroup, OfferedSuite, ProtocolVersion } from './facts'
import { groupOf, groups13, groupsBefore13 } from './groups'
import type { Handshakes } from './handshakes'

/**
 * Finds the groups that a server accepts, in TLS 1.3, and then others in the newest older version with ECDHE.
 * @param found where to add them
 * @throws ExchangeFailed
 */
export async function groupsOffered(
  handshakes: Handshakes,
  versions: AddressFacts['versions'],
  found: OfferedGroup[],
): Promise<void> {
  const in13 = versions['1.3']
  if (in13.status === 'offered') await eliminate(handshakes, '1.3', in13.suites, groups13, found)
  for (const version of ['1.2', '1.1', '1.0', 'ssl3'] as const) {
    const older = versions[version]
    const suites = older.status === 'offered' ? older.suites.filter(one => one.key_exchange === 'ecdhe') : []
    if (suites.length > 0) return await eliminate(handshakes, version, suites, groupsBefore13, found)
  }
}

async function eliminate(
  handshakes: Handshakes,
  version: Exclude<ProtocolVersion, 'ssl2'>,
  suites: readonly OfferedSuite[],
  groups: readonly number[],
  found: OfferedGroup[],
): Promise<void> {
  const names = new Set(found.map(one => one.name))
  const add = (name: string) => {
    if (names.has(name)) return
    names.add(name)
    found.push([...groupOf.values()].find(one => one.name === name)!)
  }
  // The scan of suites has found the first ones already.
  for (const { ephemeral } of suites) if (ephemeral?.group) add(ephemeral.group)
  for (;;) {
    const remaining = groups.filter(id => !names.has(groupOf.get(id)!.name))
    if (remaining.length === 0) return
    const outcome = await handshakes.start({ version, suites: suites.map(one => one.id), groups: remaining })
    const group = outcome.kind === 'accepted' && outcome.flight.version === version ? outcome.flight.ephemeral?.group : null
    if (!group) return
    add(group)
  }
}
