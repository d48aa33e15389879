import { and, eq, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Timer } from '../../../core/clock'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newUuid4 } from '../../../core/ids'
import { dnsProviders } from '../accounts/tables'
import { dnsZones } from '../zones/tables'
import type { ZoneRow } from '../zones/rows'
import { dnsZoneTargets } from './tables'
import type { TargetRow } from './target-rows'

/** Claims are renewed while they are in use, so this is how long the target of a dead hub stays claimed. */
export const claimMs = 120_000
const renewEveryMs = 40_000

/** A target claimed by this hub, with its zone and provider. */
export interface ClaimedTarget {
  target: TargetRow
  zone: ZoneRow
  provider: typeof dnsProviders.$inferSelect
  claim: string
}

/** Claims a target for this hub. @returns null if another hub has it; undefined if it was deleted or is disabled */
export async function claimTarget(hub: Hub, targetId: string): Promise<ClaimedTarget | null | undefined> {
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
    await releaseClaim(tx, claim, targetId)
    return { result: undefined }
  })
}

/** Extends a claim. @throws ClaimLost */
export const renewClaim = (hub: Hub, { claim, target }: ClaimedTarget): Promise<void> =>
  record(hub, async tx => {
    await confirmClaim(tx, { claim, target }, hub.clock.now() + claimMs)
    return { result: undefined }
  })

/** Extends a claim regularly, because provider calls can wait for a rate limit for longer. @returns a function that stops it */
export function keepClaim(hub: Hub, claimed: ClaimedTarget): () => void {
  let timer: Timer
  let isStopped = false
  const renew = async () => {
    try {
      await renewClaim(hub, claimed)
    } catch (error) {
      // The sync itself finds that out before it writes.
      if (!(error instanceof ClaimLost)) hub.log.warn({ err: error }, 'could not renew the claim on a target')
    }
    if (!isStopped) arm()
  }
  const arm = () => void (timer = hub.clock.after(renewEveryMs, () => void renew()))
  arm()
  return () => {
    isStopped = true
    timer.cancel()
  }
}

/** Verifies the claim, in the transaction that writes. @throws ClaimLost */
export async function confirmClaim(
  tx: Tx,
  { claim, target }: Pick<ClaimedTarget, 'claim' | 'target'>,
  until: number,
): Promise<TargetRow> {
  const [claimed] = await tx
    .update(dnsZoneTargets)
    .set({ claimedUntil: until })
    .where(and(eq(dnsZoneTargets.id, target.id), eq(dnsZoneTargets.claim, claim)))
    .returning()
  if (!claimed) throw new ClaimLost(target.id)
  return claimed
}

/** Releases a claim, and stores the given columns. */
export async function releaseClaim(tx: Tx, claim: string, targetId: string, set: Partial<TargetRow> = {}): Promise<void> {
  await tx
    .update(dnsZoneTargets)
    .set({ ...set, claim: null, claimedUntil: 0 })
    .where(and(eq(dnsZoneTargets.id, targetId), eq(dnsZoneTargets.claim, claim)))
}

/** Another hub claimed the target, or it was removed. */
export class ClaimLost extends Error {
  override name = 'ClaimLost'
  constructor(targetId: string) {
    super(`The claim on ${targetId} was lost.`)
  }
}
