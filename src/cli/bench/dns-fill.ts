import { eq, inArray } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { valueOfRdata, type RecordValue } from '../../features/dns/records/values'
import { defaultMetadata } from '../../features/dns/records/rrset-metadata'
import { dnsRecords, dnsRrsets } from '../../features/dns/records/tables'
import { dnsZones } from '../../features/dns/zones/tables'
import { reversedName } from '../../features/dns/zones/names'
import type { ZoneRow } from '../../features/dns/zones/rows'

const rowsPerStatement = 1000
// Transactions that take more than some seconds are aborted.
const recordsPerTransaction = 10_000

/** Name number `n` of a filled zone. Half of the names are below `dev`. */
export const nameNumber = (n: number): string => `h${String(n).padStart(7, '0')}${n % 2 === 0 ? '.dev' : ''}`

/**
 * Fills a zone with A records of different names by inserting rows. With the API, a million records would take an hour, mostly
 * for plans, history, and audit events, which are not measured here.
 */
export async function fillZone(hub: Hub, zoneId: string, count: number): Promise<void> {
  const [zone] = await hub.read.select().from(dnsZones).where(eq(dnsZones.id, zoneId))
  // Reuse values, because hashing them is the most expensive part.
  const values = Array.from({ length: 256 * 16 }, (_, n) => valueOfRdata('A', new Uint8Array([10, 0, n >> 8, n & 255])))
  for (let start = 0; start < count; start += recordsPerTransaction) {
    await record(hub, async tx => {
      const end = Math.min(start + recordsPerTransaction, count)
      for (let at = start; at < end; at += rowsPerStatement)
        await insertRows(tx, zone!, values, at, Math.min(at + rowsPerStatement, end))
      await tx
        .update(dnsZones)
        .set({ recordCount: zone!.recordCount + end })
        .where(eq(dnsZones.id, zoneId))
      return { result: undefined }
    })
  }
}

/** Deletes a zone and its records in batches. */
export async function removeZone(hub: Hub, zoneId: string): Promise<void> {
  for (let hasMore = true; hasMore;) {
    hasMore = await record(hub, async tx => {
      const batch = tx
        .select({ id: dnsRrsets.id })
        .from(dnsRrsets)
        .where(eq(dnsRrsets.zoneId, zoneId))
        .limit(recordsPerTransaction)
      const deleted = await tx.delete(dnsRrsets).where(inArray(dnsRrsets.id, batch)).returning({ id: dnsRrsets.id })
      if (deleted.length === 0) await tx.delete(dnsZones).where(eq(dnsZones.id, zoneId))
      return { result: deleted.length > 0 }
    })
  }
}

async function insertRows(tx: Tx, zone: ZoneRow, values: RecordValue[], from: number, to: number): Promise<void> {
  const now = zone.createdAt
  const times = { version: 1, createdAt: now, updatedAt: now }
  const rows = Array.from({ length: to - from }, (_, place) => {
    const name = nameNumber(from + place)
    const { hash, ...value } = values[(from + place) % values.length]!
    const rrset = { id: newId('rrset'), zoneId: zone.id, name, type: 'A', ttl: 300, source: 'api' as const, options: null }
    const ids = { id: newId('rec'), rrsetId: rrset.id, workspaceId: zone.workspaceId, zoneId: zone.id, name, type: 'A' }
    return {
      rrset: { ...rrset, ...defaultMetadata, ...times },
      record: { ...ids, nameReversed: reversedName(name), source: rrset.source, ...value, rdataHash: hash, ...times },
    }
  })
  await tx.insert(dnsRrsets).values(rows.map(one => one.rrset))
  await tx.insert(dnsRecords).values(rows.map(one => one.record))
}
