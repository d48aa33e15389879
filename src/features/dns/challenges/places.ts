import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { caaProperty, type CaaProperty } from '../../../dns/caa'
import { dnsRecords } from '../records/tables'
import { fqdnOf, namesAbove, withinZone } from '../zones/names'
import { dnsZones } from '../zones/tables'

// What issuing certificates needs to know about zones: where the answer to a DNS-01 challenge (RFC 8555 section 8.4) belongs, and
// which CAA records (RFC 8659) apply to a name. Names have no trailing dot.

/** Where the TXT records for a name belong. */
export interface ChallengePlace {
  zoneId: string
  zoneName: string
  /** Relative to the zone. */
  name: string
}

/** Why there is no place for the TXT records of a name. */
interface PlaceFailure {
  code: 'no_managed_zone' | 'zone_not_writable'
  detail: string
}

// Enough for every sensible delegation, and a limit for loops.
const maxCnames = 8

type ZoneBrief = Pick<typeof dnsZones.$inferSelect, 'id' | 'name' | 'status' | 'apply' | 'blockedPlanId'>

/** Finds where the TXT records for a name belong, following CNAME records within the zones of the workspace. */
export async function challengePlace(read: Reader, workspaceId: string, name: string): Promise<ChallengePlace | PlaceFailure> {
  const first = `_acme-challenge.${name}`
  let at = first
  for (let followed = 0; followed <= maxCnames; followed++) {
    const zone = await zoneOfName(read, workspaceId, at)
    const delegated = at === first ? '' : ` ${first} is delegated to ${at} by CNAME records.`
    if (!zone) return { code: 'no_managed_zone', detail: `No DNS zone of this workspace contains ${at}.${delegated}` }
    const relative = withinZone(`${at}.`, zone.name)!
    const target = await cnameAt(read, zone.id, relative)
    if (target === null) {
      const reason = unwritable(zone)
      if (reason !== null) return { code: 'zone_not_writable', detail: `The zone ${zone.name} ${reason}.${delegated}` }
      return { zoneId: zone.id, zoneName: zone.name, name: relative }
    }
    at = target
  }
  return { code: 'no_managed_zone', detail: `${first} has more than ${maxCnames} CNAME records in a row.` }
}

function unwritable({ status, apply, blockedPlanId }: ZoneBrief): string | null {
  if (status === 'paused') return 'is paused'
  if (blockedPlanId !== null) return 'has changes that safety checks block'
  return apply === 'manual' ? 'only applies changes manually' : null
}

/**
 * The CAA properties that apply to a name: those of the closest name with CAA records, climbing up within the zones of the workspace.
 * @returns null if there are none, or if only the DNS knows: an alias leads to a name outside these zones, whose CAA records would
 * decide (RFC 8659 section 3)
 */
export async function caaOf(
  read: Reader,
  workspaceId: string,
  name: string,
): Promise<{ at: string; properties: CaaProperty[] } | null> {
  const labels = name.split('.')
  for (let first = 0; first < labels.length; first++) {
    const at = labels.slice(first).join('.')
    const properties = await caaAt(read, workspaceId, at)
    if (properties === null) return null
    if (properties.length > 0) return { at, properties }
  }
  return null
}

/** The CAA properties of a name, or of the name that it is an alias of; null if that one is outside the zones of the workspace. */
async function caaAt(read: Reader, workspaceId: string, name: string): Promise<CaaProperty[] | null> {
  let at = name
  for (let followed = 0; followed <= maxCnames; followed++) {
    const zone = await zoneOfName(read, workspaceId, at)
    if (!zone) return at === name ? [] : null
    const relative = withinZone(`${at}.`, zone.name)!
    const rows = await read
      .select({ type: dnsRecords.type, target: dnsRecords.target, rdata: dnsRecords.rdata })
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zone.id), eq(dnsRecords.name, relative), inArray(dnsRecords.type, ['CAA', 'CNAME'])))
    const alias = rows.find(row => row.type === 'CNAME')
    if (!alias?.target) return rows.map(row => caaProperty(row.rdata))
    at = alias.target.replace(/\.$/, '')
  }
  return null
}

async function cnameAt(read: Reader, zoneId: string, name: string): Promise<string | null> {
  const [row] = await read
    .select({ target: dnsRecords.target })
    .from(dnsRecords)
    .where(and(eq(dnsRecords.zoneId, zoneId), eq(dnsRecords.name, name), eq(dnsRecords.type, 'CNAME')))
  return row?.target?.replace(/\.$/, '') ?? null
}

/** The zone of the workspace with the longest name that contains a name. */
async function zoneOfName(read: Reader, workspaceId: string, name: string): Promise<ZoneBrief | null> {
  const { id, name: zoneName, status, apply, blockedPlanId } = dnsZones
  const rows = await read
    .select({ id, name: zoneName, status, apply, blockedPlanId })
    .from(dnsZones)
    .where(and(eq(dnsZones.workspaceId, workspaceId), inArray(dnsZones.name, [name, ...namesAbove(name)])))
  return rows.toSorted((a, b) => b.name.length - a.name.length)[0] ?? null
}

/** The full name of a place. */
export const nameOfPlace = ({ name, zoneName }: ChallengePlace): string => fqdnOf(name, zoneName)
