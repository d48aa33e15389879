import { and, asc, eq, lt, lte, or } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { dnsChangesetRrsets, dnsChangesets } from './tables'

// A transaction is kept short, since it holds up every other write of the process.
const mostAtOnce = 1000

/**
 * Deletes some of a zone's changesets, the oldest first. Each goes before its rrsets do, so that none is ever read in part.
 * @param upTo the version of the last that is to go
 * @returns whether there may be more
 */
export async function clearHistory(tx: Tx, zoneId: string, upTo: number): Promise<boolean> {
  const gone = and(eq(dnsChangesets.zoneId, zoneId), lte(dnsChangesets.version, upTo))
  const [next] = await tx
    .select({ version: dnsChangesets.version })
    .from(dnsChangesets)
    .where(gone)
    .orderBy(asc(dnsChangesets.version))
    .limit(1)
    .offset(mostAtOnce)
  await tx.delete(dnsChangesets).where(and(gone, next && lt(dnsChangesets.version, next.version)))
  return (await clearRrsets(tx, zoneId, next ? next.version - 1 : upTo)) || next !== undefined
}

async function clearRrsets(tx: Tx, zoneId: string, upTo: number): Promise<boolean> {
  const { version, place } = dnsChangesetRrsets
  const gone = (last: number) => and(eq(dnsChangesetRrsets.zoneId, zoneId), lte(version, last))
  const [next] = await tx
    .select({ version, place })
    .from(dnsChangesetRrsets)
    .where(gone(upTo))
    .orderBy(asc(version), asc(place))
    .limit(1)
    .offset(mostAtOnce)
  await tx
    .delete(dnsChangesetRrsets)
    .where(
      next
        ? and(gone(next.version), or(lt(version, next.version), and(eq(version, next.version), lt(place, next.place))))
        : gone(upTo),
    )
  return next !== undefined
}
