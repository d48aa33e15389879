import { and, count, eq, gt, gte, inArray, isNotNull, isNull, lte, ne, notInArray, or } from 'drizzle-orm'
import { record } from '../../../core/change'
import { hubs } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { hubTimeoutMs } from '../../../core/jobs/queue'
import { monitorGaps, monitorShares } from '../tables'

/** Every monitor belongs to one of so many shares, which hubs divide among themselves. */
export const shareCount = 256
/** How long a share stays with a hub that does not renew it. */
export const leaseMs = 15_000
/** A shorter pause in which nobody ran a share is no gap: intervals of checks are longer, and so is the time to confirm a failure. */
export const leastGapMs = 10_000

/** What a round of renewals came to. */
export interface Division {
  /** Shares that this hub did not have before. */
  taken: number[]
  /** Shares that another hub has by now. */
  lost: number[]
  /** Shares above this hub's part: to be given back by {@link Shares.free} once nothing of them waits to be written. */
  surplus: number[]
}

/**
 * The shares of this hub. They are taken and renewed by conditional updates, so that of several hubs that reach for one a single one
 * has it; a hub that dies loses them when their lease ends.
 */
export class Shares {
  private leases = new Map<number, number>()
  private roundAt: number | null = null

  constructor(private readonly hub: Hub) {}

  /**
   * Whether it was this hub's when it last heard. Its lease may have ended since, and whether another hub has it then is known to the
   * database alone: what is found meanwhile is kept, and written only once {@link confirm} says so.
   */
  owns(share: number): boolean {
    return this.leases.has(share)
  }

  /** Those with a lease that holds now. */
  get held(): number[] {
    const now = this.hub.clock.now()
    return [...this.leases].filter(([, until]) => until > now).map(([share]) => share)
  }

  /** Those that this hub has by the database, which alone decides. */
  async confirm(tx: Tx): Promise<ReadonlySet<number>> {
    const rows = await tx.select({ share: monitorShares.share }).from(monitorShares).where(eq(monitorShares.hubId, this.hub.id))
    return new Set(rows.map(row => row.share))
  }

  /** Renews what this hub has and takes its part of what is free. */
  async divide(): Promise<Division> {
    const { hub } = this
    const now = hub.clock.now()
    // Where rounds were tried all along, checks ran too, whether the database took the renewals or not.
    const stoodStill = this.roundAt !== null && now - this.roundAt >= leastGapMs
    const mayBeBack = this.roundAt === null || now < this.roundAt
    this.roundAt = now
    const { kept, taken, surplus } = await record(hub, async tx => {
      await makeShares(tx, now)
      if (mayBeBack) await endGaps(tx, now)
      const part = Math.ceil(shareCount / (await livingHubs(tx, hub, now)))
      const mine = await tx.select().from(monitorShares).where(eq(monitorShares.hubId, hub.id))
      const kept = await take(tx, hub, eq(monitorShares.hubId, hub.id), mine, now)
      const gone = notInArray(monitorShares.hubId, tx.select({ id: hubs.id }).from(hubs))
      const isFree = or(
        isNull(monitorShares.hubId),
        and(ne(monitorShares.hubId, hub.id), or(lte(monitorShares.until, now), gone)),
      )!
      const free =
        kept.length < part
          ? await tx
              .select()
              .from(monitorShares)
              .where(isFree)
              .limit(part - kept.length)
          : []
      const taken = await take(tx, hub, isFree, free, now)
      await writeGaps(tx, [...taken, ...(stoodStill ? kept : [])], now)
      return { result: { kept, taken, surplus: kept.slice(part) } }
    })
    const before = this.leases
    this.leases = new Map([...kept, ...taken].map(({ share }) => [share, now + leaseMs]))
    return {
      taken: [...kept, ...taken].map(one => one.share).filter(share => !before.has(share)),
      lost: [...before.keys()].filter(share => !this.leases.has(share)),
      surplus: surplus.map(one => one.share),
    }
  }

  /** Gives shares back at once: another hub may take them. */
  async free(shares: readonly number[]): Promise<void> {
    for (const share of shares) this.leases.delete(share)
    if (shares.length === 0) return
    const now = this.hub.clock.now()
    await record(this.hub, async tx => {
      await tx
        .update(monitorShares)
        .set({ hubId: null, until: now, ranUntil: now })
        .where(and(eq(monitorShares.hubId, this.hub.id), inArray(monitorShares.share, [...shares])))
      return { result: undefined }
    })
  }

  /** Gives all of them back: this hub leaves. */
  async leave(): Promise<void> {
    await this.free([...this.leases.keys()])
  }
}

type Share = typeof monitorShares.$inferSelect

async function makeShares(tx: Tx, now: number): Promise<void> {
  const [made] = await tx.select({ n: count() }).from(monitorShares)
  if (made!.n === shareCount) return
  await tx
    .insert(monitorShares)
    .values(Array.from({ length: shareCount }, (_, share) => ({ share, hubId: null, until: now, ranUntil: now })))
    .onConflictDoNothing()
}

/** This one, and all others that were there lately and have not left. */
async function livingHubs(tx: Tx, hub: Hub, now: number): Promise<number> {
  const [others] = await tx
    .select({ n: count() })
    .from(hubs)
    .where(and(ne(hubs.id, hub.id), isNotNull(hubs.masterKeyId), gt(hubs.seenAt, now - hubTimeoutMs)))
  return 1 + others!.n
}

/** Takes those of the wanted shares for which the condition still holds; returns them as they were before. */
async function take(tx: Tx, hub: Hub, stillFree: ReturnType<typeof or>, wanted: readonly Share[], now: number): Promise<Share[]> {
  if (wanted.length === 0) return []
  const shares = wanted.map(one => one.share)
  const won = await tx
    .update(monitorShares)
    .set({ hubId: hub.id, until: now + leaseMs, ranUntil: now })
    .where(and(inArray(monitorShares.share, shares), stillFree))
    .returning({ share: monitorShares.share })
  const own = new Set(won.map(one => one.share))
  return wanted.filter(one => own.has(one.share)).sort((a, b) => a.share - b.share)
}

/** Writes down from when to when nobody ran the shares: one row for those that stopped together. */
async function writeGaps(tx: Tx, shares: readonly Share[], now: number): Promise<void> {
  for (const [from, together] of Map.groupBy(shares, one => one.ranUntil)) {
    if (now - from < leastGapMs) continue
    await tx.insert(monitorGaps).values({
      id: newId('gap'),
      from,
      to: now,
      shares: together.length === shareCount ? null : together.map(one => one.share),
    })
  }
}

/** A time to come in which nobody ran shares is of a clock that was set forward, and back again: from now on they are run. */
async function endGaps(tx: Tx, now: number): Promise<void> {
  await tx.delete(monitorGaps).where(gte(monitorGaps.from, now))
  await tx.update(monitorGaps).set({ to: now }).where(gt(monitorGaps.to, now))
}

/** Which share a monitor belongs to: the same in every hub and every version. */
export const shareOf = (monitorId: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < monitorId.length; at++) hash = Math.imul(hash ^ monitorId.charCodeAt(at), 0x01000193)
  // FNV-1a (RFC 9923); its upper bits are mixed better than its lower ones.
  return (hash >>> 24) & (shareCount - 1)
}
