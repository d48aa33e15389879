import { and, asc, eq, lt } from 'drizzle-orm'
import { record } from '../../../core/change'
import { insertRows } from '../../../core/db/insert-rows'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { runInSlices, isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { crlBucketOf, findCrlEntry, type CrlEntry } from '../../../core/x509/crl'
import { crlParts, crls, type CrlRow } from '../tables'

/** The list that was last downloaded from an address. */
export async function storedCrl(read: Reader, url: string): Promise<CrlRow | undefined> {
  const [row] = await read.select().from(crls).where(eq(crls.url, url))
  return row
}

/** Replaces the list of an address. @param parts the entries of each bucket */
export async function saveCrl(tx: Tx, row: CrlRow, parts: readonly Uint8Array[]): Promise<void> {
  await tx.delete(crls).where(eq(crls.url, row.url))
  await insertRows(tx, crls, [row])
  for (const [bucket, entries] of parts.entries()) {
    await insertRows(tx, crlParts, [{ crlId: row.id, bucket, entries }])
    // First, because other writes wait for this transaction.
    if (isTurnOver()) await yieldToEventLoop(true)
  }
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
  const [part] = await read
    .select({ entries })
    .from(crlParts)
    .where(and(eq(crlId, id), eq(bucket, crlBucketOf(serial, buckets))))
  return part && (await runInSlices(findCrlEntry(part.entries, serial)))
}

const perRead = 1000
/** How long lists are kept after the next ones are due, to notice when an older one is sent (ms). */
const keptAfterMs = 86_400_000
/** Maximum size of all lists (bytes). */
const maxTotal = 512 * 1024 ** 2

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
