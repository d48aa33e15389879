import type { Caps, Op, ProviderRrset, UnsupportedRrset } from '../providers/provider'
import { rrsetKey } from '../zones/names'

/** Reasons that block a plan until someone allows each of them. */
export const blockCodes = [
  'updates_over_limit',
  'deletes_over_limit',
  'zone_emptied',
  'loses_apex_ns',
  'loses_apex_mx',
  'loses_apex_address',
  'loses_ds',
  'loses_caa',
  'apex_ns_change',
  'locked',
  'unsupported',
  'creates_over_limit',
  'new_wildcard',
  'new_delegation',
  'first_sync',
  'replaces_template',
] as const
export type BlockCode = (typeof blockCodes)[number]

/** A reason that blocks a plan. */
export interface BlockReason {
  code: BlockCode
  /** Message with the numbers. */
  detail: string
  /** The affected rrsets, truncated. */
  rrsets: { name: string; type: string }[]
}

type GuardedOp = Pick<Op, 'action' | 'name' | 'type'> & Partial<Pick<Op, 'before' | 'after'>>

/** What a plan would do at one place, and what exists there. */
export interface GuardInput {
  ops: readonly GuardedOp[]
  /** Existing rrsets, without the SOA. */
  existing: readonly { name: string; type: string }[]
  /** Percentage of the existing rrsets. */
  limits: { update: number; delete: number }
  /** Locked rrsets, by `rrsetKey`. */
  locked: ReadonlySet<string>
  /** Rrsets with values that a dynamic IP source sets, by `rrsetKey`. They change often, so they don’t count for the percentages. */
  driven: ReadonlySet<string>
  /** Rrsets that the provider would not accept. */
  unsupported: readonly UnsupportedRrset[]
  /** Nothing was ever synced here, so everything here belongs to someone else. */
  isFirst: boolean
}

/** Percentage of rrsets that a plan may update or delete without approval. */
export const defaultLimitPercent = 30
/** The percentages apply from this zone size on (octoDNS `MIN_EXISTING_RECORDS`). Below it: half of the rrsets, and at least 3. */
const minRrsetsForPercent = 10
const minDeletesInSmallZone = 3
const maxCreates = 500
const maxRrsetsPerReason = 20

/** Returns the reasons that block a plan. */
export function blockReasons(planned: GuardInput): BlockReason[] {
  return [...byCount(planned), ...byLoss(planned), ...byKind(planned)]
}

/**
 * Whether a change only adds or removes answers to DNS-01 challenges (RFC 8555 section 8.4): SHA-256 in base64url. They come and go with
 * each certificate, and nothing else needs them.
 */
function isChallenge({ type, before, after }: GuardedOp): boolean {
  const values = [...(before?.values ?? []), ...(after?.values ?? [])]
  return type === 'TXT' && values.length > 0 && values.every(isDigest)
}

const digestLength = 43
const isDigest = (rdata: Uint8Array): boolean =>
  rdata.length === 1 + digestLength &&
  rdata[0] === digestLength &&
  /^[\w-]+$/.test(Buffer.from(rdata.subarray(1)).toString('latin1'))

function byCount({ ops, existing, limits, driven }: GuardInput): BlockReason[] {
  const reasons: BlockReason[] = []
  const of = (action: Op['action']) => ops.filter(one => one.action === action && !driven.has(rrsetKey(one)) && !isChallenge(one))
  const [creates, updates, deletes] = [of('create'), of('update'), of('delete')]
  const total = existing.length
  const over = (some: readonly object[], percent: number) => some.length * 100 > percent * total
  if (total >= minRrsetsForPercent) {
    if (over(updates, limits.update))
      reasons.push(
        reason(
          'updates_over_limit',
          `Updates ${updates.length} of ${total} record sets; the limit is ${limits.update}%.`,
          updates,
        ),
      )
    if (over(deletes, limits.delete))
      reasons.push(
        reason(
          'deletes_over_limit',
          `Deletes ${deletes.length} of ${total} record sets; the limit is ${limits.delete}%.`,
          deletes,
        ),
      )
  } else if (deletes.length >= minDeletesInSmallZone && deletes.length * 2 >= total) {
    reasons.push(
      reason('deletes_over_limit', `Deletes ${deletes.length} of ${total} record sets, at least half of the zone.`, deletes),
    )
  }
  if (creates.length > maxCreates)
    reasons.push(reason('creates_over_limit', `Creates ${creates.length} record sets; the limit is ${maxCreates}.`, creates))
  return reasons
}

type Named = { name: string; type: string }

const essentials: { code: BlockCode; what: string; is(one: Named): boolean }[] = [
  { code: 'loses_apex_ns', what: 'the NS records at the apex', is: one => one.name === '@' && one.type === 'NS' },
  { code: 'loses_apex_mx', what: 'the MX records at the apex', is: one => one.name === '@' && one.type === 'MX' },
  {
    code: 'loses_apex_address',
    what: 'the last address record at the apex',
    is: one => one.name === '@' && ['A', 'AAAA', 'ALIAS'].includes(one.type),
  },
  { code: 'loses_ds', what: 'the last DS record', is: one => one.type === 'DS' },
  { code: 'loses_caa', what: 'the last CAA record', is: one => one.type === 'CAA' },
]

function byLoss({ ops, existing }: GuardInput): BlockReason[] {
  const deleted = new Set(ops.filter(one => one.action === 'delete').map(rrsetKey))
  if (deleted.size === 0) return []
  const left = [...existing.filter(one => !deleted.has(rrsetKey(one))), ...ops.filter(one => one.action === 'create')]
  const reasons: BlockReason[] = []
  const isOnlyChallenges = ops.every(one => one.action !== 'delete' || isChallenge(one))
  if (left.length === 0 && !isOnlyChallenges) reasons.push(reason('zone_emptied', 'Deletes every record of the zone.', existing))
  for (const { code, what, is } of essentials) {
    const lost = existing.filter(is)
    if (lost.length > 0 && !left.some(is)) reasons.push(reason(code, `Removes ${what}.`, lost))
  }
  return reasons
}

function byKind({ ops, existing, locked, unsupported, isFirst }: GuardInput): BlockReason[] {
  const reasons: BlockReason[] = []
  const add = (code: BlockCode, detail: string, rrsets: readonly Named[]) => {
    if (rrsets.length > 0) reasons.push(reason(code, detail, rrsets))
  }
  const changed = ops.filter(one => one.action !== 'create')
  const created = ops.filter(one => one.action === 'create')
  add(
    'apex_ns_change',
    'Changes the NS records at the apex, which delegate the zone.',
    changed.filter(one => one.name === '@' && one.type === 'NS'),
  )
  add(
    'locked',
    'Changes locked records.',
    ops.filter(one => locked.has(rrsetKey(one))),
  )
  if (unsupported.length > 0)
    reasons.push(reason('unsupported', `Not supported by the provider: ${unsupported[0]!.detail}`, unsupported))
  const there = new Set(existing.map(rrsetKey))
  const isWildcard = (one: Named) => one.name === '*' || one.name.startsWith('*.')
  const wildcards = new Set(existing.filter(isWildcard).map(one => one.name))
  add(
    'new_wildcard',
    'Creates a wildcard, which answers for every name that doesn’t exist.',
    created.filter(one => isWildcard(one) && !wildcards.has(one.name)),
  )
  add(
    'new_delegation',
    'Delegates a subdomain to other name servers.',
    created.filter(one => one.type === 'NS' && one.name !== '@' && !there.has(rrsetKey(one))),
  )
  if (isFirst) add('first_sync', 'First sync: changes or deletes records that were not created by Bailiwick.', changed)
  return reasons
}

/** @param rrsets affected rrsets; only the first ones are kept */
export const reason = (code: BlockCode, detail: string, rrsets: readonly Named[]): BlockReason => ({
  code,
  detail: detail.slice(0, 500),
  rrsets: rrsets.slice(0, maxRrsetsPerReason).map(({ name, type }) => ({ name, type })),
})

/**
 * Explains why the result of a read is implausible: a server that lost its data, or a missing page, must not look like deleted
 * records. Returns null for a plausible result.
 * @param before `count`: rrsets of the last accepted read, null before the first; `hasNs`: whether the apex must have NS records,
 * because it had before, or because someone else created the zone
 */
export function implausibleReason(
  read: readonly ProviderRrset[],
  before: { count: number | null; hasNs: boolean },
  caps: Pick<Caps, 'apexNs'>,
): string | null {
  if (before.hasNs && caps.apexNs !== 'hidden' && !read.some(one => one.name === '@' && one.type === 'NS'))
    return 'The provider returned no NS records at the apex, which every zone has.'
  const { count } = before
  if (count === null || count === 0) return null
  if (read.length === 0) return `The provider returned no records; the last read had ${count} record sets.`
  if (read.length * 2 < count)
    return `The provider returned ${read.length} record sets, fewer than half of the ${count} in the last read.`
  return null
}
