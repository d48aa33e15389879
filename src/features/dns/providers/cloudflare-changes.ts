import { fqdnOf, rrsetKey } from '../zones/names'
import { apiType, membersOf, type CloudflareRecord, type RecordMembers } from './cloudflare-records'
import { proxiableTypes, type Op, type ProviderRrset } from './provider'
import { rechunked, valueKey } from './same-rrset'
import { batchesWithin } from './steps-by-name'

type Terms = { ttl?: number; proxied?: boolean }

/** Body of a batch request: one transaction, applied in this order (Cloudflare, Batch record changes). */
interface Batch {
  deletes: { id: string }[]
  patches: ({ id: string } & Terms & RecordMembers)[]
  posts: ({ name: string; type: string } & Terms & RecordMembers)[]
}

/** Number of record changes in a batch, which the plan of the zone limits. */
export const sizeOf = ({ deletes, patches, posts }: Batch): number => deletes.length + patches.length + posts.length

/** The non-empty lists of a batch. */
export const bodyOf = (batch: Batch): Partial<Batch> =>
  Object.fromEntries(Object.entries(batch).filter(([, list]) => list.length > 0))

/** Maximum number of records that a step changes. */
export const maxRecordsOf = ({ before, after }: Op): number => Math.max(before?.values.length ?? 0, after?.values.length ?? 0, 1)

/** Splits steps, in order, into batches with up to `maxRecords` records. */
export const batchesOf = (ops: readonly Op[], maxRecords: number): Op[][] =>
  batchesWithin(ops, [{ max: maxRecords, sizeOf: maxRecordsOf }])

/**
 * Builds one batch. Records with unchanged values keep their id, comment and tags; other records are updated rather than deleted and
 * recreated where possible, for the same reason.
 * @param there current records at the names of the steps
 */
export function batchOf(ops: readonly Op[], there: readonly CloudflareRecord[], zoneName: string): Batch {
  const batch: Batch = { deletes: [], patches: [], posts: [] }
  const byKey = Map.groupBy(there, rrsetKey)
  for (const op of ops) addStep(batch, op, byKey.get(rrsetKey(op)) ?? [], zoneName)
  return batch
}

function addStep(batch: Batch, { name, type, after }: Op, records: readonly CloudflareRecord[], zoneName: string): void {
  if (!after) {
    batch.deletes.push(...records.map(({ id }) => ({ id })))
    return
  }
  const keyOf = (rdata: Uint8Array) => valueKey(type, rechunked(type, rdata))
  const wanted = new Map(after.values.map(value => [keyOf(value), value]))
  const free: CloudflareRecord[] = []
  for (const record of records) {
    if (!wanted.delete(keyOf(record.rdata))) {
      free.push(record)
      continue
    }
    const terms = termsOf(after, record.proxied)
    if (terms.ttl !== record.ttl || (terms.proxied ?? null) !== record.proxied) batch.patches.push({ id: record.id, ...terms })
  }
  for (const value of wanted.values()) {
    const replaced = free.shift()
    const members = membersOf(type, value)
    if (replaced) batch.patches.push({ id: replaced.id, ...members, ...termsOf(after, replaced.proxied) })
    else {
      const proxied = records.some(record => record.proxied)
      batch.posts.push({
        name: fqdnOf(name, zoneName),
        type: apiType(type),
        ...members,
        ...termsOf(after, proxiableTypes.has(type) ? proxied : null),
      })
    }
  }
  batch.deletes.push(...free.map(({ id }) => ({ id })))
}

/** @param proxied current value, kept unless another is requested; null for types that can't be proxied */
function termsOf({ ttl, options }: ProviderRrset, proxied: boolean | null): { ttl: number; proxied?: boolean } {
  if (proxied === null) return { ttl }
  const wanted = options?.proxied ?? proxied
  // Proxied records always have the automatic TTL (Cloudflare, TTL).
  return { proxied: wanted, ttl: wanted ? autoTtl : ttl }
}

/** The automatic TTL of Cloudflare: 300 seconds (Cloudflare, TTL). */
export const autoTtl = 1
