import { and, asc, eq, gt, gte, lt, or } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import type { Reader, Tx } from '../../../core/db/transaction'
import { reversedName } from '../zone-names'
import { dnsAliasWays } from './tables'

/** A zone as ways lead through it. */
export interface ZoneOnWay {
  workspaceId: string
  name: string
}

/** Whether any ALIAS of a workspace leads to a name that is in the zone, or would be if it were served. */
export async function isOnWay(read: Reader, zone: ZoneOnWay): Promise<boolean> {
  const [row] = await read.select({ rrsetId: dnsAliasWays.rrsetId }).from(dnsAliasWays).where(through(zone)).limit(1)
  return row !== undefined
}

const atOnce = 500

/** The ALIASes that lead through a zone, by the ids of their rrsets. */
export async function* aliasesThrough(read: Reader, zone: ZoneOnWay): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const rows = await read
      .selectDistinct({ rrsetId: dnsAliasWays.rrsetId })
      .from(dnsAliasWays)
      .where(and(through(zone), gt(dnsAliasWays.rrsetId, after)))
      .orderBy(asc(dnsAliasWays.rrsetId))
      .limit(atOnce)
    yield* rows.map(row => row.rrsetId)
    if (rows.length < atOnce) return
    after = rows.at(-1)!.rrsetId
  }
}

/** The names that an ALIAS led to when it was followed last, reversed and sorted. */
export async function wayOf(read: Reader, rrsetId: string): Promise<string[]> {
  const rows = await read.select().from(dnsAliasWays).where(eq(dnsAliasWays.rrsetId, rrsetId))
  return rows.map(row => row.nameReversed).sort()
}

/** In the form of {@link wayOf}. @param names absolute */
export const wayAlong = (names: readonly string[]): string[] => names.map(name => reversedName(name.slice(0, -1))).sort()

/** Keeps the names that an ALIAS leads to. */
export async function keepWay(tx: Tx, alias: { rrsetId: string; workspaceId: string }, names: readonly string[]): Promise<void> {
  const way = wayAlong(names)
  if (isDeepStrictEqual(way, await wayOf(tx, alias.rrsetId))) return
  await tx.delete(dnsAliasWays).where(eq(dnsAliasWays.rrsetId, alias.rrsetId))
  const { rrsetId, workspaceId } = alias
  await tx.insert(dnsAliasWays).values(way.map(nameReversed => ({ rrsetId, workspaceId, nameReversed })))
}

function through({ workspaceId, name }: ZoneOnWay) {
  const at = reversedName(name)
  const { nameReversed } = dnsAliasWays
  // The dot is followed by the slash, so this is the name and every name below it.
  return and(
    eq(dnsAliasWays.workspaceId, workspaceId),
    or(eq(nameReversed, at), and(gte(nameReversed, `${at}.`), lt(nameReversed, `${at}/`))),
  )
}
