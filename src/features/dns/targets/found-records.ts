import { and, eq, inArray, sql } from 'drizzle-orm'
import { insertRows } from '../../../core/db/insert-rows'
import type { Reader, Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { batches } from '../records/rows'
import { rrsetKey, reversedName } from '../zones/names'
import type { KnownState, RrsetSyncState } from '../sync/three-way'
import { dnsFoundRecords } from './tables'

/** Updates the list of unmanaged records at a target, for rrsets whose state changed. */
export async function storeFoundRecords(
  tx: Tx,
  zone: { id: string; workspaceId: string },
  target: { id: string },
  changed: readonly RrsetSyncState[],
  absent: readonly string[],
  known: ReadonlyMap<string, KnownState>,
  now: number,
): Promise<void> {
  const found = changed.filter(one => one.state === 'unmanaged')
  await deleteFoundRecords(
    tx,
    target.id,
    [...changed.map(rrsetKey), ...absent].filter(key => known.get(key)?.state === 'unmanaged'),
  )
  const rows = found.flatMap(({ name, type, observedTtl, observedValues }) =>
    (observedValues ?? []).map(content => ({
      id: newId('rec'),
      targetId: target.id,
      zoneId: zone.id,
      workspaceId: zone.workspaceId,
      name,
      nameReversed: reversedName(name),
      type,
      ttl: observedTtl!,
      content,
      foundAt: now,
    })),
  )
  await insertRows(tx, dnsFoundRecords, rows)
}

/** Deletes unmanaged records that are gone, or became records of the zone. @param keys of `rrsetKey` */
export async function deleteFoundRecords(tx: Tx, targetId: string, keys: readonly string[]): Promise<void> {
  for (const some of batches(keys))
    await tx.delete(dnsFoundRecords).where(
      and(
        eq(dnsFoundRecords.targetId, targetId),
        // The index is on the name alone.
        inArray(dnsFoundRecords.name, [...new Set(some.map(key => key.slice(0, key.lastIndexOf(' '))))]),
        inArray(sql`${dnsFoundRecords.name} || ' ' || ${dnsFoundRecords.type}`, some),
      ),
    )
}

/** Unmanaged records by {@link foundKey}. */
export type FoundIds = ReadonlyMap<string, { id: string; foundAt: number }>

export const foundKey = (rrset: { name: string; type: string }, content: string): string => `${rrsetKey(rrset)} ${content}`

export async function foundIds(read: Reader, zoneId: string): Promise<FoundIds> {
  const rows = await read.select().from(dnsFoundRecords).where(eq(dnsFoundRecords.zoneId, zoneId))
  return new Map(rows.map(row => [foundKey(row, row.content), row]))
}
