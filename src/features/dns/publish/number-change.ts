import { eq, sql } from 'drizzle-orm'
import { nextNumber } from '../../../core/counters'
import { insertRows, type OnConflict } from '../../../core/db/insert-rows'
import type { Tx } from '../../../core/db/transaction'
import { changesCounter } from './published-zones'
import { dnsRrsetChanges, dnsZoneChanges } from './tables'
import { rrsetKey } from '../zones/names'

// Reading more rrsets than this one by one takes longer than reading the whole zone.
const maxTrackedRrsets = 1000

/**
 * Assigns the next change number, in commit order, to a change of served data.
 * @param changed the names and types that changed, or null to have the whole zone read again
 */
export async function numberChange(
  tx: Tx,
  zone: { id: string; name: string },
  changed: readonly { name: string; type: string }[] | null,
): Promise<void> {
  const number = await nextNumber(tx, changesCounter)
  const rrsets = [...new Map(changed?.map(one => [rrsetKey(one), one])).values()]
  const whole = changed === null || rrsets.length > maxTrackedRrsets
  await insertRows(
    tx,
    dnsZoneChanges,
    [{ zoneId: zone.id, number, name: zone.name, wholeNumber: number }],
    whole ? readWhole : readChanges,
  )
  if (whole) {
    // Reading the whole zone covers these too.
    await tx.delete(dnsRrsetChanges).where(eq(dnsRrsetChanges.zoneId, zone.id))
    return
  }
  await insertRows(
    tx,
    dnsRrsetChanges,
    rrsets.map(({ name, type }) => ({ zoneId: zone.id, name, type, number })),
    changeAgain,
  )
}

const latest = { number: sql`excluded.number` }

const readChanges: OnConflict = {
  name: 'changes',
  apply: insert => insert.onConflictDoUpdate({ target: dnsZoneChanges.zoneId, set: latest as never }),
}
const readWhole: OnConflict = {
  name: 'whole',
  apply: insert =>
    insert.onConflictDoUpdate({ target: dnsZoneChanges.zoneId, set: { ...latest, wholeNumber: latest.number } as never }),
}
const changeAgain: OnConflict = {
  name: 'again',
  apply: insert =>
    insert.onConflictDoUpdate({
      target: [dnsRrsetChanges.zoneId, dnsRrsetChanges.name, dnsRrsetChanges.type],
      set: latest as never,
    }),
}
