import { eq } from 'drizzle-orm'
import { nextNumber } from '../../core/change'
import type { Tx } from '../../core/db/transaction'
import { changesCounter } from './publish'
import { dnsRrsetChanges, dnsZoneChanges } from './tables'
import { pieces, rrsetKey } from './zone-rows'

// Reading as many rrsets one by one takes as long as reading a zone.
const toldOneByOne = 1000

/**
 * Numbers a change of what is served, in the order of commits.
 * @param changed the names and types that changed, or null when the whole zone is to be read again
 */
export async function numberChange(
  tx: Tx,
  zone: { id: string; name: string },
  changed: readonly { name: string; type: string }[] | null,
): Promise<void> {
  const number = await nextNumber(tx, changesCounter)
  const rrsets = [...new Map(changed?.map(one => [rrsetKey(one), one])).values()]
  const whole = changed === null || rrsets.length > toldOneByOne
  await tx
    .insert(dnsZoneChanges)
    .values({ zoneId: zone.id, number, name: zone.name, wholeNumber: number })
    .onConflictDoUpdate({ target: dnsZoneChanges.zoneId, set: { number, ...(whole && { wholeNumber: number }) } })
  if (whole) {
    // What they tell is in what is read now.
    await tx.delete(dnsRrsetChanges).where(eq(dnsRrsetChanges.zoneId, zone.id))
    return
  }
  for (const some of pieces(rrsets))
    await tx
      .insert(dnsRrsetChanges)
      .values(some.map(({ name, type }) => ({ zoneId: zone.id, name, type, number })))
      .onConflictDoUpdate({
        target: [dnsRrsetChanges.zoneId, dnsRrsetChanges.name, dnsRrsetChanges.type],
        set: { number },
      })
}
