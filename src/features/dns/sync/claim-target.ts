import { and, eq, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newUuid4 } from '../../../core/ids'
import { dnsProviders } from '../accounts/tables'
import { dnsZones } from '../tables'
import type { ZoneRow } from '../zone-rows'
import { dnsZoneTargets } from './tables'
import type { TargetRow } from './target-rows'

/** Longer than any one call to a provider takes; renewed between them. */
export const claimMs = 120_000

/** A target that this hub alone works on, with what it needs for that. */
export interface Claimed {
  target: TargetRow
  zone: ZoneRow
  provider: typeof dnsProviders.$inferSelect
  claim: string
}

/** Takes a target for this hub. @returns null when another works on it; undefined when it is gone, or is not kept up */
export async function claimTarget(hub: Hub, targetId: string): Promise<Claimed | null | undefined> {
  const claim = newUuid4()
  const now = hub.clock.now()
  return await record(hub, async tx => {
    const [target] = await tx
      .update(dnsZoneTargets)
      .set({ claim, claimedUntil: now + claimMs })
      .where(and(eq(dnsZoneTargets.id, targetId), lte(dnsZoneTargets.claimedUntil, now)))
      .returning()
    if (!target) {
      const [there] = await tx.select({ id: dnsZoneTargets.id }).from(dnsZoneTargets).where(eq(dnsZoneTargets.id, targetId))
      return { result: there ? null : undefined }
    }
    const [zone] = await tx.select().from(dnsZones).where(eq(dnsZones.id, target.zoneId))
    const [provider] = await tx.select().from(dnsProviders).where(eq(dnsProviders.id, target.providerId))
    if (target.enabled && zone && provider) return { result: { target, zone, provider, claim } }
    await free(tx, claim, targetId)
    return { result: undefined }
  })
}

/** Keeps a claim for another while. @throws ClaimLost */
export const renewClaim = (hub: Hub, { claim, target }: Claimed): Promise<void> =>
  record(hub, async tx => {
    await holdClaim(tx, { claim, target }, hub.clock.now() + claimMs)
    return { result: undefined }
  })

/** Makes sure, in the transaction of what is written, that the claim still stands. @throws ClaimLost */
export async function holdClaim(tx: Tx, { claim, target }: Pick<Claimed, 'claim' | 'target'>, until: number): Promise<TargetRow> {
  const [held] = await tx
    .update(dnsZoneTargets)
    .set({ claimedUntil: until })
    .where(and(eq(dnsZoneTargets.id, target.id), eq(dnsZoneTargets.claim, claim)))
    .returning()
  if (!held) throw new ClaimLost(target.id)
  return held
}

/** Gives a target back, with what a run leaves of it. */
export async function free(tx: Tx, claim: string, targetId: string, set: Partial<TargetRow> = {}): Promise<void> {
  await tx
    .update(dnsZoneTargets)
    .set({ ...set, claim: null, claimedUntil: 0 })
    .where(and(eq(dnsZoneTargets.id, targetId), eq(dnsZoneTargets.claim, claim)))
}

/** Another hub has taken the target over, or it was removed. */
export class ClaimLost extends Error {
  override name = 'ClaimLost'
  constructor(targetId: string) {
    super(`The claim on ${targetId} was lost.`)
  }
}
