import { and, asc, eq, lt, ne, sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import { forUpdate } from '../../../core/db/dialect'
import { insertRows, insertRowsReturning, skipExisting } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { runInSlices, isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { crlBucketOf, findCrlEntry, type CrlEntry } from '../../../core/x509/crl'
import { crlParts, crls, type CrlRow } from '../tables'
import { CrlUnusable } from './download-crl'

/** The list that was last downloaded from an address. */
export async function storedCrl(read: Reader, url: string): Promise<CrlRow | undefined> {
  const [row] = await prepared(read, 'crl-of-url', handle =>
    handle
      .select()
      .from(crls)
      .where(eq(crls.url, sql.placeholder('url'))),
  ).execute({ url })
  return row
}

/** Maximum size of all lists (bytes). */
const maxTotal = 512 * 1024 ** 2

/**
 * Replaces the list of an address, unless another hub has just done so.
 * @param parts the entries of each bucket
 * @param now ms UTC
 * @returns the list that is stored
 * @throws CrlUnusable if all lists together would be too large
 */
export async function saveCrl(tx: Tx, row: CrlRow, parts: readonly Uint8Array[], now: number): Promise<CrlRow> {
  const [before] = await forUpdate(tx.select().from(crls).where(eq(crls.url, row.url)))
  if (before && before.keptUntil > now) return before
  const [others] = await tx
    .select({ size: sql`coalesce(sum(${crls.size}), 0)`.mapWith(Number) })
    .from(crls)
    .where(ne(crls.url, row.url))
  if (others!.size + row.size > maxTotal)
    throw new CrlUnusable(
      `The revocation list can’t be stored: all lists together would be larger than ${maxTotal / 1024 ** 2} MiB.`,
    )
  // Only the locked one: a list that was stored in the meantime stays.
  if (before) await tx.delete(crls).where(eq(crls.id, before.id))
  const [inserted] = await insertRowsReturning(tx, crls, [row], skipExisting)
  if (!inserted) {
    const other = await storedCrl(tx, row.url)
    if (!other) throw new CrlUnusable('The revocation list was replaced in the meantime.')
    return other
  }
  for (const [bucket, entries] of parts.entries()) {
    await insertRows(tx, crlParts, [{ crlId: row.id, bucket, entries }])
    // First, because other writes wait for this transaction.
    if (isTurnOver()) await yieldToEventLoop(true)
  }
  return row
}

/**
 * Looks for a serial number in a list.
 * @returns null if it isn’t revoked; undefined if the list was replaced in the meantime
 */
export async function entryOf(
  read: Reader,
  { id, buckets }: Pick<CrlRow, 'id' | 'buckets'>,
  serial: string,
): Promise<CrlEntry | null | undefined> {
  const { crlId, bucket, entries } = crlParts
  const [part] = await prepared(read, 'crl-bucket', handle =>
    handle
      .select({ entries })
      .from(crlParts)
      .where(and(eq(crlId, sql.placeholder('crlId')), eq(bucket, sql.placeholder('bucket')))),
  ).execute({ crlId: id, bucket: crlBucketOf(serial, buckets) })
  return part && (await runInSlices(findCrlEntry(part.entries, serial)))
}

const perRead = 1000
/** How long lists are kept after the next ones are due, to notice when an older one is sent (ms). */
const keptAfterMs = 86_400_000

/** Deletes lists that are out of date, and those that are due next if all of them are too large. */
export async function pruneCrls(hub: Hub): Promise<void> {
  const { id, size, keptUntil } = crls
  const old = await hub.read
    .select({ id })
    .from(crls)
    .where(lt(keptUntil, hub.clock.now() - keptAfterMs))
    .limit(perRead)
  const all = await hub.read.select({ id, size }).from(crls).orderBy(asc(keptUntil), asc(id))
  let excess = all.reduce((sum, one) => sum + one.size, 0) - maxTotal
  const tooMany = all.filter(one => excess > 0 && (excess -= one.size) > -one.size)
  for (const one of new Set([...old, ...tooMany].map(row => row.id)))
    await record(hub, async tx => {
      await tx.delete(crls).where(eq(id, one))
      return { result: undefined }
    })
}
