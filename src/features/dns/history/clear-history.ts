import { and, asc, eq, lt, lte, or } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { dnsChangesetRrsets, dnsChangesets } from './tables'

// Keeps transactions short, since they block all other writes.
const batchSize = 1000

/**
 * Deletes a batch of changesets of a zone, oldest first. Deletes each changeset before its rrsets, so that none is read
 * incompletely.
 * @param upTo version of the last changeset to delete
 * @returns whether there may be more
 */
export async function clearHistory(tx: Tx, zoneId: string, upTo: number): Promise<boolean> {
  const expired = and(eq(dnsChangesets.zoneId, zoneId), lte(dnsChangesets.version, upTo))
  const [next] = await tx
    .select({ version: dnsChangesets.version })
    .from(dnsChangesets)
    .where(expired)
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
    .offset(batchSize)
  await tx.delete(dnsChangesets).where(and(expired, next && lt(dnsChangesets.version, next.version)))
  return (await clearRrsets(tx, zoneId, next ? next.version - 1 : upTo)) || next !== undefined
}

async function clearRrsets(tx: Tx, zoneId: string, upTo: number): Promise<boolean> {
  const { version, place } = dnsChangesetRrsets
  const expired = (last: number) => and(eq(dnsChangesetRrsets.zoneId, zoneId), lte(version, last))
  const [next] = await tx
    .select({ version, place })
    .from(dnsChangesetRrsets)
    .where(expired(upTo))
    .orderBy(asc(version), asc(place))
    .limit(1)
    .offset(batchSize)
  await tx
    .delete(dnsChangesetRrsets)
    .where(
      next
        ? and(expired(next.version), or(lt(version, next.version), and(eq(version, next.version), lt(place, next.place))))
        : expired(upTo),
    )
  return next !== undefined
}
