import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { rowsAtOnce, rrsetKey } from '../zone-rows'
import { reversedName } from '../zone-names'
import type { Known, Stands } from './evaluate'
import { dnsFoundRecords } from './tables'

/** Keeps the records that are at a target alone as they are now, those whose rrset stands otherwise than before. */
export async function keepFound(
  tx: Tx,
  zone: { id: string; workspaceId: string },
  target: { id: string },
  changed: readonly Stands[],
  gone: readonly string[],
  known: ReadonlyMap<string, Known>,
  now: number,
): Promise<void> {
  const found = changed.filter(one => one.state === 'unmanaged')
  await dropFound(
    tx,
    target.id,
    [...changed.map(rrsetKey), ...gone].filter(key => known.get(key)?.state === 'unmanaged'),
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
  for (let at = 0; at < rows.length; at += rowsAtOnce) await tx.insert(dnsFoundRecords).values(rows.slice(at, at + rowsAtOnce))
}

/** Forgets found records, since they are gone or become records here. @param keys of `rrsetKey` */
export async function dropFound(tx: Tx, targetId: string, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += rowsAtOnce) {
    const some = keys.slice(at, at + rowsAtOnce)
    await tx.delete(dnsFoundRecords).where(
      and(
        eq(dnsFoundRecords.targetId, targetId),
        // By which alone an index finds them.
        inArray(dnsFoundRecords.name, [...new Set(some.map(key => key.slice(0, key.lastIndexOf(' '))))]),
        inArray(sql`${dnsFoundRecords.name} || ' ' || ${dnsFoundRecords.type}`, some),
      ),
    )
  }
}

/** Ids of found records by {@link foundKey}. */
export type FoundIds = ReadonlyMap<string, { id: string; foundAt: number }>

export const foundKey = (rrset: { name: string; type: string }, content: string): string => `${rrsetKey(rrset)} ${content}`

export async function foundIds(read: Reader, zoneId: string): Promise<FoundIds> {
  const rows = await read.select().from(dnsFoundRecords).where(eq(dnsFoundRecords.zoneId, zoneId))
  return new Map(rows.map(row => [foundKey(row, row.content), row]))
}
