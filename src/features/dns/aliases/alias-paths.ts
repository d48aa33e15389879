import { and, asc, eq, gt, gte, lt, or, sql } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { readPages } from '../../../core/db/pages'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import { reversedName } from '../zones/names'
import { dnsAliasPaths } from './tables'

/** A zone that may be on the path of an ALIAS. */
interface PathZone {
  workspaceId: string
  name: string
}

/** Whether the path of any ALIAS of the workspace includes a name in the zone, even if the zone isn’t served. */
export async function isOnAliasPath(read: Reader, zone: PathZone): Promise<boolean> {
  const at = reversedName(zone.name)
  const [row] = await prepared(read, 'dns-any-alias-through', handle => {
    const { workspaceId, nameReversed, rrsetId } = dnsAliasPaths
    const value = (name: string) => sql`${sql.placeholder(name)}`
    return handle
      .select({ rrsetId })
      .from(dnsAliasPaths)
      .where(
        and(
          eq(workspaceId, value('workspaceId')),
          // The range to scan, which also includes names such as `at-`.
          gte(nameReversed, value('at')),
          lt(nameReversed, value('until')),
          or(eq(nameReversed, value('at')), gte(nameReversed, value('from'))),
        ),
      )
      .limit(1)
  }).execute({ workspaceId: zone.workspaceId, at, from: `${at}.`, until: `${at}/` })
  return row !== undefined
}

const pageSize = 500

/** Rrset ids of the ALIAS records whose path includes a zone. */
export const aliasesThrough = (read: Reader, zone: PathZone): AsyncGenerator<{ rrsetId: string }[]> =>
  readPages(pageSize, last =>
    read
      .selectDistinct({ rrsetId: dnsAliasPaths.rrsetId })
      .from(dnsAliasPaths)
      .where(and(isThrough(zone), gt(dnsAliasPaths.rrsetId, last?.rrsetId ?? '')))
      .orderBy(asc(dnsAliasPaths.rrsetId))
      .limit(pageSize),
  )

/** The stored path of an ALIAS: reversed names, sorted. */
export async function storedPath(read: Reader, rrsetId: string): Promise<string[]> {
  const rows = await read.select().from(dnsAliasPaths).where(eq(dnsAliasPaths.rrsetId, rrsetId))
  return rows.map(row => row.nameReversed).sort()
}

/** A path in the form of {@link storedPath}. @param names absolute */
export const pathAlong = (names: readonly string[]): string[] => names.map(name => reversedName(name.slice(0, -1))).sort()

/** Stores the path of an ALIAS. */
export async function storePath(
  tx: Tx,
  alias: { rrsetId: string; workspaceId: string },
  names: readonly string[],
): Promise<void> {
  const path = pathAlong(names)
  if (isDeepStrictEqual(path, await storedPath(tx, alias.rrsetId))) return
  await tx.delete(dnsAliasPaths).where(eq(dnsAliasPaths.rrsetId, alias.rrsetId))
  const { rrsetId, workspaceId } = alias
  await tx.insert(dnsAliasPaths).values(path.map(nameReversed => ({ rrsetId, workspaceId, nameReversed })))
}

function isThrough({ workspaceId, name }: PathZone) {
  const at = reversedName(name)
  const { nameReversed } = dnsAliasPaths
  // `/` follows `.` in ASCII, so this range covers the name and all names below it.
  return and(
    eq(dnsAliasPaths.workspaceId, workspaceId),
    or(eq(nameReversed, at), and(gte(nameReversed, `${at}.`), lt(nameReversed, `${at}/`))),
  )
}
