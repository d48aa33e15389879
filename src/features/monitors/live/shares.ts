import { and, count, eq, gt, gte, inArray, isNotNull, isNull, lte, ne, notInArray, or, sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import { allowsSeveralHubs } from '../../../core/db/dialect'
import { prepared } from '../../../core/db/prepared'
import { hubs } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { leaseTime, liveSince } from '../../../core/live-hubs'
import { monitorGaps, monitorShares } from '../tables'

/** Every monitor belongs to one of this many shares, which hubs divide among themselves. */
export const shareCount = 256
/** How long a hub keeps a share without renewing it. Shorter if other hubs may be waiting for it. */
export const leaseMs = allowsSeveralHubs ? 6_000 : 15_000
/** A third of the lease, so that one failed or delayed renewal doesn't lose shares. */
export const divideEachMs = leaseMs / 3
const lateMs = divideEachMs + 500
// A round that takes longer is stuck, and another hub should take over.
const maxRoundMs = 30_000
// The shares of a dead hub are interrupted for at least this long.
const recordedGapMs = 6_000
/** A hub that stood still for less than this has no gap: the time to confirm a failure is longer. */
export const minGapMs = 10_000

/** The outcome of a round of renewals. */
interface Division {
  /** Newly acquired shares. */
  claimed: number[]
  /** Shares that another hub owns now. */
  lost: number[]
  /** Shares beyond this hub's part. Release them with {@link Shares.free} once nothing of them is waiting to be written. */
  surplus: number[]
}

/**
 * The shares of this hub. They are claimed and renewed with conditional updates, so only one hub can own a share. If a hub dies, its
 * leases expire.
 */
export class Shares {
  private leases = new Map<number, number>()
  private roundAt: number | null = null
  /** Whether no round has succeeded since the start, or since the clock was set back. */
  private isFirst = true
  private renewedAt = 0

  constructor(private readonly hub: Hub) {}

  /**
   * Whether this hub owned the share at the last renewal. The lease may have expired since; only the database knows whether another hub
   * has claimed it. Results are kept until {@link confirm} allows writing them.
   */
  owns(share: number): boolean {
    return this.leases.has(share)
  }

  /** Shares with a valid lease. */
  get held(): number[] {
    const now = this.hub.clock.now()
    return [...this.leases].filter(([, until]) => until > now).map(([share]) => share)
  }

  /** The shares this hub owns according to the database, which is authoritative. */
  async confirm(tx: Tx): Promise<ReadonlySet<number>> {
    const rows = await tx.select({ share: monitorShares.share }).from(monitorShares).where(eq(monitorShares.hubId, this.hub.id))
    return new Set(rows.map(row => row.share))
  }

  /** Renews the shares of this hub and claims its part of the free ones. */
  async divide(): Promise<Division> {
    const { hub } = this
    const now = hub.clock.now()
    // If rounds kept running, checks ran too, even if renewals failed.
    const stoodStill = this.roundAt !== null && now - this.roundAt >= minGapMs
    this.isFirst ||= this.roundAt !== null && now < this.roundAt
    this.roundAt = now
    const { renewed, claimed, surplus } = await record(
      hub,
      async tx => {
        if (this.isFirst) {
          await createShares(tx, now)
          await endGaps(tx, now)
        }
        const part = Math.ceil(shareCount / (await countLiveHubs(tx, hub)))
        const interrupted = stoodStill ? await tx.select().from(monitorShares).where(eq(monitorShares.hubId, hub.id)) : []
        const renewed = await renewShares(tx, hub, now)
        const hasUnknownOwner = notInArray(monitorShares.hubId, tx.select({ id: hubs.id }).from(hubs))
        const isFree = or(
          isNull(monitorShares.hubId),
          and(ne(monitorShares.hubId, hub.id), or(lte(monitorShares.until, leaseTime(hub)), hasUnknownOwner)),
        )!
        const free =
          renewed.length < part
            ? await tx
                .select()
                .from(monitorShares)
                .where(isFree)
                .limit(part - renewed.length)
            : []
        const claimed = await claim(tx, hub, isFree, free, now)
        await writeGaps(tx, [...claimed, ...interrupted], now)
        return { result: { renewed, claimed, surplus: renewed.slice(part) } }
      },
      true,
    )
    const before = this.leases
    this.isFirst = false
    this.renewedAt = now
    const own = [...renewed, ...claimed.map(one => one.share)]
    this.leases = new Map(own.map(share => [share, now + leaseMs]))
    return {
      claimed: own.filter(share => !before.has(share)),
      lost: [...before.keys()].filter(share => !this.leases.has(share)),
      surplus,
    }
  }

  /** When the leases must be extended if the next round is late (ms UTC). */
  get lateAt(): number {
    return this.renewedAt + lateMs
  }

  /** Extends the leases if the next round is late, because writing many results takes longer than usual. */
  async renewIfLate(): Promise<void> {
    const { hub, roundAt, renewedAt } = this
    const now = hub.clock.now()
    if (roundAt === null || now - renewedAt < lateMs || now - roundAt > maxRoundMs) return
    this.renewedAt = now
    await record(hub, async tx => {
      // Whether an expired lease can be renewed is up to the next round.
      const valid = and(eq(monitorShares.hubId, hub.id), gt(monitorShares.until, now))
      return {
        result: await tx
          .update(monitorShares)
          .set({ until: now + leaseMs, ranUntil: now })
          .where(valid),
      }
    })
    for (const [share, until] of this.leases) if (until > now) this.leases.set(share, now + leaseMs)
  }

  /** Releases shares, so that another hub can claim them immediately. */
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

  /** Releases all shares, because this hub is shutting down. */
  async leave(): Promise<void> {
    await this.free([...this.leases.keys()])
  }
}

type Share = typeof monitorShares.$inferSelect

async function createShares(tx: Tx, now: number): Promise<void> {
  const [existing] = await tx.select({ n: count() }).from(monitorShares)
  if (existing!.n === shareCount) return
  await tx
    .insert(monitorShares)
    .values(Array.from({ length: shareCount }, (_, share) => ({ share, hubId: null, until: now, ranUntil: now })))
    .onConflictDoNothing()
}

/** The number of running hubs, including this one. */
async function countLiveHubs(tx: Tx, hub: Hub): Promise<number> {
  const query = prepared(tx, 'live-hubs', read =>
    read
      .select({ n: count() })
      .from(hubs)
      .where(
        and(ne(hubs.id, sql.placeholder('hub')), isNotNull(hubs.masterKeyId), gt(hubs.seenAt, sql.placeholder('liveSince'))),
      ),
  )
  const [others] = await query.execute({ hub: hub.id, liveSince: liveSince(hub) })
  return 1 + others!.n
}

/** Renews the shares of this hub. @returns the shares in order */
async function renewShares(tx: Tx, hub: Hub, now: number): Promise<number[]> {
  const rows = await prepared<{ share: number }[], Tx>(tx, 'renew-shares', handle =>
    handle
      .update(monitorShares)
      .set({ until: sql`${sql.placeholder('until')}`, ranUntil: sql`${sql.placeholder('now')}` })
      .where(eq(monitorShares.hubId, sql.placeholder('hub')))
      .returning({ share: monitorShares.share }),
  ).execute({ hub: hub.id, until: now + leaseMs, now })
  return rows.map(row => row.share).sort((a, b) => a - b)
}

/** Claims the wanted shares that still match the condition. @returns them as they were before */
async function claim(
  tx: Tx,
  hub: Hub,
  condition: ReturnType<typeof or>,
  wanted: readonly Share[],
  now: number,
): Promise<Share[]> {
  if (wanted.length === 0) return []
  const shares = wanted.map(one => one.share)
  const won = await tx
    .update(monitorShares)
    .set({ hubId: hub.id, until: now + leaseMs, ranUntil: now })
    .where(and(inArray(monitorShares.share, shares), condition))
    .returning({ share: monitorShares.share })
  const own = new Set(won.map(one => one.share))
  return wanted.filter(one => own.has(one.share)).sort((a, b) => a.share - b.share)
}

/** Records when no hub ran the shares, with one row for shares that stopped at the same time. */
async function writeGaps(tx: Tx, shares: readonly Share[], now: number): Promise<void> {
  for (const [from, together] of Map.groupBy(shares, one => one.ranUntil)) {
    if (now - from < recordedGapMs) continue
    await tx.insert(monitorGaps).values({
      id: newId('gap'),
      from,
      to: now,
      shares: together.length === shareCount ? null : together.map(one => one.share),
    })
  }
}

/** Ends gaps in the future, which stem from a clock that was set forward and back again. */
async function endGaps(tx: Tx, now: number): Promise<void> {
  await tx.delete(monitorGaps).where(gte(monitorGaps.from, now))
  await tx.update(monitorGaps).set({ to: now }).where(gt(monitorGaps.to, now))
}

/** The share of a monitor. Must be the same in every hub and every version. */
export const shareOf = (monitorId: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < monitorId.length; at++) hash = Math.imul(hash ^ monitorId.charCodeAt(at), 0x01000193)
  // FNV-1a (RFC 9923). Its upper bits are mixed better than its lower bits.
  return (hash >>> 24) & (shareCount - 1)
}
