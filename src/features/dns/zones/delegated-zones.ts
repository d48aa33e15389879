import { and, eq, inArray, or } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { dnsZones } from './tables'
import { nameServersOf } from './views'

/** A zone with the name servers in its NS records, in A-labels without a trailing dot. */
interface DelegatedZone {
  id: string
  name: string
  nameservers: string[]
}

/** The zones of a workspace with one of these names or IDs. */
export async function delegatedZones(
  read: Reader,
  workspaceId: string,
  names: readonly string[],
  ids: readonly string[],
): Promise<DelegatedZone[]> {
  const isOne = or(inArray(dnsZones.name, [...names]), inArray(dnsZones.id, [...ids]))
  const zones = await read
    .select({ id: dnsZones.id, name: dnsZones.name })
    .from(dnsZones)
    .where(and(eq(dnsZones.workspaceId, workspaceId), isOne))
  const servers = await nameServersOf(read, zones)
  return zones.map(zone => ({ ...zone, nameservers: (servers.get(zone.id) ?? []).map(one => one.replace(/\.$/, '')) }))
}
