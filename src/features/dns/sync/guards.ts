import type { Caps, Op, ProviderRrset, Unfit } from '../providers/provider'
import { rrsetKey } from '../zone-rows'

/** Why a plan is not carried out unless somebody says so, each for itself. */
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

/** A reason for which a plan is held back. */
export interface BlockReason {
  code: BlockCode
  /** For people, with the figures in it. */
  detail: string
  /** The names and types that it is about, the first ones. */
  members: { name: string; type: string }[]
}

/** What a plan would do in one place, and what is there. */
export interface Planned {
  ops: readonly Pick<Op, 'action' | 'name' | 'type'>[]
  /** The names and types that are there now, but for the SOA. */
  existing: readonly { name: string; type: string }[]
  /** Percent of the rrsets that are there. */
  limits: { update: number; delete: number }
  /** By `rrsetKey`. */
  locked: ReadonlySet<string>
  /** What the provider would not take. */
  unfit: readonly Unfit[]
  /** Nothing was ever brought here, so all that is here is of others. */
  isFirst: boolean
}

/** Percent of the rrsets that one plan updates, or removes, without being asked about. */
export const usualLimit = 30
/** From so many rrsets on these percents count (octoDNS, `MIN_EXISTING_RECORDS`); below, half of them and three at least. */
export const fewestForPercent = 10
const fewestSmallDeletes = 3
export const mostCreates = 500
const mostMembers = 20

/** Why a plan is held back; none for one that is carried out. */
export function blocksOf(planned: Planned): BlockReason[] {
  return [...byCount(planned), ...byLoss(planned), ...byKind(planned)]
}

function byCount({ ops, existing, limits }: Planned): BlockReason[] {
  const reasons: BlockReason[] = []
  const of = (action: Op['action']) => ops.filter(one => one.action === action)
  const [creates, updates, deletes] = [of('create'), of('update'), of('delete')]
  const total = existing.length
  const over = (some: readonly object[], percent: number) => some.length * 100 > percent * total
  if (total >= fewestForPercent) {
    if (over(updates, limits.update))
      reasons.push(
        reason(
          'updates_over_limit',
          `It would change ${updates.length} of ${total} rrsets; up to ${limits.update} % go unasked.`,
          updates,
        ),
      )
    if (over(deletes, limits.delete))
      reasons.push(
        reason(
          'deletes_over_limit',
          `It would remove ${deletes.length} of ${total} rrsets; up to ${limits.delete} % go unasked.`,
          deletes,
        ),
      )
  } else if (deletes.length >= fewestSmallDeletes && deletes.length * 2 >= total) {
    reasons.push(
      reason('deletes_over_limit', `It would remove ${deletes.length} of ${total} rrsets, half of them or more.`, deletes),
    )
  }
  if (creates.length > mostCreates)
    reasons.push(
      reason('creates_over_limit', `It would make ${creates.length} rrsets; up to ${mostCreates} go unasked.`, creates),
    )
  return reasons
}

type Named = { name: string; type: string }

const essentials: { code: BlockCode; what: string; is(one: Named): boolean }[] = [
  { code: 'loses_apex_ns', what: 'the NS of its apex', is: one => one.name === '@' && one.type === 'NS' },
  { code: 'loses_apex_mx', what: 'the MX of its apex', is: one => one.name === '@' && one.type === 'MX' },
  {
    code: 'loses_apex_address',
    what: 'the last address of its apex',
    is: one => one.name === '@' && ['A', 'AAAA', 'ALIAS'].includes(one.type),
  },
  { code: 'loses_ds', what: 'its last DS', is: one => one.type === 'DS' },
  { code: 'loses_caa', what: 'its last CAA', is: one => one.type === 'CAA' },
]

function byLoss({ ops, existing }: Planned): BlockReason[] {
  const deleted = new Set(ops.filter(one => one.action === 'delete').map(rrsetKey))
  if (deleted.size === 0) return []
  const left = [...existing.filter(one => !deleted.has(rrsetKey(one))), ...ops.filter(one => one.action === 'create')]
  const reasons: BlockReason[] = []
  if (left.length === 0) reasons.push(reason('zone_emptied', 'It would leave nothing in the zone.', existing))
  for (const { code, what, is } of essentials) {
    const lost = existing.filter(is)
    if (lost.length > 0 && !left.some(is)) reasons.push(reason(code, `The zone would lose ${what}.`, lost))
  }
  return reasons
}

function byKind({ ops, existing, locked, unfit, isFirst }: Planned): BlockReason[] {
  const reasons: BlockReason[] = []
  const add = (code: BlockCode, detail: string, members: readonly Named[]) => {
    if (members.length > 0) reasons.push(reason(code, detail, members))
  }
  const changed = ops.filter(one => one.action !== 'create')
  const created = ops.filter(one => one.action === 'create')
  add(
    'apex_ns_change',
    'It would change the NS of the apex, by which the zone is found.',
    changed.filter(one => one.name === '@' && one.type === 'NS'),
  )
  add(
    'locked',
    'It would change what is locked.',
    ops.filter(one => locked.has(rrsetKey(one))),
  )
  if (unfit.length > 0) reasons.push(reason('unsupported', `The provider does not take it: ${unfit[0]!.detail}`, unfit))
  const there = new Set(existing.map(rrsetKey))
  const isWildcard = (one: Named) => one.name === '*' || one.name.startsWith('*.')
  const wildcards = new Set(existing.filter(isWildcard).map(one => one.name))
  add(
    'new_wildcard',
    'It would make a wildcard, which answers for every name that is not there.',
    created.filter(one => isWildcard(one) && !wildcards.has(one.name)),
  )
  add(
    'new_delegation',
    'It would hand names below on to other name servers.',
    created.filter(one => one.type === 'NS' && one.name !== '@' && !there.has(rrsetKey(one))),
  )
  if (isFirst)
    add('first_sync', 'Nothing was ever brought there: what is there is of others, and would be changed or removed.', changed)
  return reasons
}

/** @param detail for people @param members what it is about, of which the first are kept */
export const reason = (code: BlockCode, detail: string, members: readonly Named[]): BlockReason => ({
  code,
  detail: detail.slice(0, 500),
  members: members.slice(0, mostMembers).map(({ name, type }) => ({ name, type })),
})

/**
 * Why a reading of a zone is not believed: a server that lost its data, or a page that was left out, must not look as if somebody had
 * removed the records. Null for one that is believed.
 * @param before `count`: rrsets of the last reading that was believed, null before the first; `hasNs`: whether it has to have NS at the
 * apex, as it had before, or as every zone has that somebody else made
 */
export function unbelievable(
  read: readonly ProviderRrset[],
  before: { count: number | null; hasNs: boolean },
  caps: Pick<Caps, 'apexNs'>,
): string | null {
  if (before.hasNs && caps.apexNs !== 'hidden' && !read.some(one => one.name === '@' && one.type === 'NS'))
    return 'The reading has no NS at the apex, which every zone has.'
  const { count } = before
  if (count === null || count === 0) return null
  if (read.length === 0) return `The reading is empty, and the one before had ${count} rrsets.`
  if (read.length * 2 < count) return `The reading has ${read.length} rrsets, less than half of the ${count} of the one before.`
  return null
}
