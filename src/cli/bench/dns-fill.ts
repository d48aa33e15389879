import { eq, inArray } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { valueOfRdata, type RecordValue } from '../../features/dns/record-values'
import { noMembers } from '../../features/dns/rrset-members'
import { dnsRecords, dnsRrsets, dnsZones } from '../../features/dns/tables'
import { reversedName } from '../../features/dns/zone-names'
import type { ZoneRow } from '../../features/dns/zone-rows'

const rowsAtOnce = 1000
// A transaction that takes longer than some seconds is refused.
const recordsInOne = 10_000

/** Name number `n` of a filled zone: half of them are below `dev`. */
export const filledName = (n: number): string => `h${String(n).padStart(7, '0')}${n % 2 === 0 ? '.dev' : ''}`

/**
 * Fills a zone with address records, each of a name of its own, past the verbs: through them a million records would take an hour of
 * plans, history and audit entries that are not what is measured. The rows are those that the verbs would write.
 */
export async function fillZone(hub: Hub, zoneId: string, count: number): Promise<void> {
  const [zone] = await hub.read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  // Of addresses there are few, and their hashes cost more than all else.
  const values = Array.from({ length: 256 * 16 }, (_, n) => valueOfRdata('A', new Uint8Array([10, 0, n >> 8, n & 255])))
  for (let made = 0; made < count; made += recordsInOne) {
    await record(hub, async tx => {
      const end = Math.min(made + recordsInOne, count)
      for (let at = made; at < end; at += rowsAtOnce) await insertRows(tx, zone!, values, at, Math.min(at + rowsAtOnce, end))
      await tx
        .update(dnsZones)
        .set({ recordCount: zone!.recordCount + end })
        .where(eq(dnsZones.id, zoneId))
      return { result: undefined }
    })
  }
}

/** Removes a zone and its records, piece by piece too. */
export async function removeZone(hub: Hub, zoneId: string): Promise<void> {
  for (let left = true; left;) {
    left = await record(hub, async tx => {
      const some = tx.select({ id: dnsRrsets.id }).from(dnsRrsets).where(eq(dnsRrsets.zoneId, zoneId)).limit(recordsInOne)
      const gone = await tx.delete(dnsRrsets).where(inArray(dnsRrsets.id, some)).returning({ id: dnsRrsets.id })
      if (gone.length === 0) await tx.delete(dnsZones).where(eq(dnsZones.id, zoneId))
      return { result: gone.length > 0 }
    })
  }
}

async function insertRows(tx: Tx, zone: ZoneRow, values: RecordValue[], from: number, to: number): Promise<void> {
  const now = zone.createdAt
  const of = { version: 1, createdAt: now, updatedAt: now }
  const rows = Array.from({ length: to - from }, (_, place) => {
    const name = filledName(from + place)
    const { hash, ...value } = values[(from + place) % values.length]!
    const rrset = { id: newId('rrset'), zoneId: zone.id, name, type: 'A', ttl: 300, source: 'api' as const, options: null }
    const own = { id: newId('rec'), rrsetId: rrset.id, workspaceId: zone.workspaceId, zoneId: zone.id, name, type: 'A' }
    return {
      rrset: { ...rrset, ...noMembers, ...of },
      own: { ...own, nameReversed: reversedName(name), source: rrset.source, ...value, rdataHash: hash, ...of },
    }
  })
  await tx.insert(dnsRrsets).values(rows.map(one => one.rrset))
  await tx.insert(dnsRecords).values(rows.map(one => one.own))
}
