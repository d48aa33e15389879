import { canonicalRdata } from '../../../core/dns/rdata-names'
import { fqdnOf } from '../zone-names'
import { apiType, membersOf, type CloudflareRecord, type RecordMembers } from './cloudflare-records'
import { proxiableTypes, type Op, type ProviderRrset } from './provider'
import { rechunked, sameValues, stepKey } from './same-rrset'
import { stepsByName } from './steps-by-name'

type Terms = { ttl?: number; proxied?: boolean }

/** The body of a batch: one transaction, carried out in this order (Cloudflare, Batch record changes). */
export interface Batch {
  deletes: { id: string }[]
  patches: ({ id: string } & Terms & RecordMembers)[]
  posts: ({ name: string; type: string } & Terms & RecordMembers)[]
}

/** How many records a batch makes, edits and removes: what the plan of the zone limits. */
export const sizeOf = ({ deletes, patches, posts }: Batch): number => deletes.length + patches.length + posts.length

/** The lists of a batch that have something in them. */
export const bodyOf = (batch: Batch): Partial<Batch> =>
  Object.fromEntries(Object.entries(batch).filter(([, list]) => list.length > 0))

/** How many records a step changes at most. */
export const mostOf = ({ before, after }: Op): number => Math.max(before?.values.length ?? 0, after?.values.length ?? 0, 1)

/**
 * Cuts steps, in their order, into batches of so many records at most. Steps of one name that follow each other stay together where
 * they fit, so that nothing is without what takes its place; a step that has more alone stands alone.
 */
export function batchesOf(ops: readonly Op[], most: number): Op[][] {
  const batches: Op[][] = []
  let size = Infinity
  const records = (some: readonly Op[]) => some.reduce((sum, op) => sum + mostOf(op), 0)
  for (const group of stepsByName(ops))
    for (const some of records(group) <= most ? [group] : group.map(op => [op])) {
      size += records(some)
      if (size <= most) {
        batches.at(-1)!.push(...some)
        continue
      }
      batches.push(some)
      size = records(some)
    }
  return batches
}

/** True when what is there is what a step was made for: values, TTL, and whether it is proxied where that was read. */
export function isAsRead({ before }: Op, there: ProviderRrset | undefined): boolean {
  if (!before || !there) return !before && !there
  const proxied = before.options?.proxied
  const cut = (value: Uint8Array) => rechunked(before.type, value)
  return (
    before.ttl === there.ttl &&
    (proxied === undefined || proxied === there.options?.proxied) &&
    sameValues(before.type, before.values.map(cut), there.values.map(cut))
  )
}

/**
 * Steps as one batch. A record whose value stays is kept, with its id, comment and tags; of the others as many as possible get a new
 * value in place of being removed and made again, for the same reason.
 * @param there the records of the zone's names that the steps are about
 */
export function batchOf(ops: readonly Op[], there: readonly CloudflareRecord[], zoneName: string): Batch {
  const batch: Batch = { deletes: [], patches: [], posts: [] }
  const byKey = Map.groupBy(there, stepKey)
  for (const op of ops) addStep(batch, op, byKey.get(stepKey(op)) ?? [], zoneName)
  return batch
}

function addStep(batch: Batch, { name, type, after }: Op, records: readonly CloudflareRecord[], zoneName: string): void {
  if (!after) {
    batch.deletes.push(...records.map(({ id }) => ({ id })))
    return
  }
  const keyOf = (rdata: Uint8Array) => Buffer.from(canonicalRdata(type, rechunked(type, rdata))).toString('latin1')
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

/** @param proxied whether it is now, which stays where nothing else is wanted; null for types that cannot be */
function termsOf({ ttl, options }: ProviderRrset, proxied: boolean | null): { ttl: number; proxied?: boolean } {
  if (proxied === null) return { ttl }
  const wanted = options?.proxied ?? proxied
  // A proxied record has no other TTL (Cloudflare, TTL).
  return { proxied: wanted, ttl: wanted ? autoTtl : ttl }
}

/** The TTL that Cloudflare chooses: 300 seconds (Cloudflare, TTL). */
export const autoTtl = 1
