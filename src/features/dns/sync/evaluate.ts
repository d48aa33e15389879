import { sha256Hex } from '../../../core/crypto'
import { textOf } from '../../../core/dns/rdata'
import type { AliasAddresses } from '../aliases/expand'
import type { Caps, Op, ProviderRrset, Unfit } from '../providers/provider'
import { rrsetKey } from '../zone-rows'
import { ignoredAmong, type IgnoreRule } from './ignoring'
import { alike, printOf, ttlKept } from './normalise'
import { standsOfAlias, withoutAliases } from './without-aliases'
import { isSynced, standingOf, type DriftKind, type SyncState } from './three-way'

/** What was known of an rrset at a target. */
export interface Known {
  agreed: string | null
  observed: string | null
  observedTtl: number | null
  observedValues: string[] | null
  /** As a step that was sent would have it, empty for a removal; null where none is under way. */
  sent: string | null
  state: SyncState
  kind: DriftKind | null
  detail: string | null
}

/** How an rrset stands now. */
export interface Stands extends Known {
  name: string
  type: string
}

export interface Reading {
  desired: ReadonlyMap<string, ProviderRrset>
  known: ReadonlyMap<string, Known>
  observed: readonly ProviderRrset[]
  caps: Caps
  /** What ALIASes stand for, by their names. */
  aliases: ReadonlyMap<string, AliasAddresses>
  unfit(rrset: ProviderRrset): Unfit[]
  rules: readonly IgnoreRule[]
  /** What is at the target alone is to go. */
  isExclusive: boolean
  /** Nothing was ever read there, or somewhere else: what was agreed on before does not count. */
  isFirst: boolean
  /** The zone was just made there: what it begins with is nobody's. */
  isNew: boolean
  /** Whether what somebody else changed is to be put back. */
  puts: (key: string, state: 'drifted' | 'conflict') => boolean
}

export interface Evaluated {
  /** All rrsets that are here or there. */
  stands: Stands[]
  /** Keys of what is known and is neither here nor there any more. */
  gone: string[]
  /** What would bring the target to what is desired, as far as it is to be. */
  ops: Op[]
  /** Of those, how many undo what somebody else did. */
  putBack: number
  /** What the target does not take, where something else at the name would go: the name would be lost. */
  endangered: Unfit[]
  /** All that the target does not take. */
  unfit: Unfit[]
  /** Names at which addresses stand for an ALIAS. */
  expanded: Set<string>
  /** Over all that was read. */
  observedHash: string
}

/** Compares a reading of a target with what is desired there and what both last agreed on. Asks nobody and writes nothing. */
export function evaluate(of: Reading): Evaluated {
  const { known, caps } = of
  const observed = new Map(of.observed.map(one => [rrsetKey(one), one]))
  const expanded = caps.alias === 'expand' ? withoutAliases(of.desired, observed, of.aliases) : null
  const desired = expanded?.desired ?? of.desired
  const ignored = ignoredAmong(of.observed, of.rules)
  const result: Evaluated = {
    stands: [],
    gone: [],
    ops: [],
    putBack: 0,
    endangered: [],
    unfit: [],
    expanded: new Set(),
    observedHash: '',
  }
  const prints: string[] = []
  for (const key of new Set([...desired.keys(), ...observed.keys(), ...known.keys()])) {
    const wanted = desired.get(key)
    const there = observed.get(key)
    const before = of.isFirst ? undefined : known.get(key)
    const observedPrint = there ? printOf(there, caps) : null
    if (observedPrint) prints.push(`${key} ${observedPrint}`)
    if (!wanted && !there) {
      result.gone.push(key)
      continue
    }
    const { name, type } = (wanted ?? there)!
    const one: Stands = {
      name,
      type,
      // What was sent was agreed on, whatever is wanted by now.
      agreed: hasLanded(before, observedPrint) ? observedPrint : (before?.agreed ?? null),
      observed: observedPrint,
      observedTtl: there?.ttl ?? null,
      observedValues:
        there && before?.observed === observedPrint && before.observedValues
          ? before.observedValues
          : (there?.values.map(value => textOf(type, value)) ?? null),
      sent: null,
      state: 'unknown',
      kind: null,
      detail: null,
    }
    result.stands.push(one)
    if (of.isNew && wanted && isApexNs(one)) one.agreed = observedPrint
    const standing = standingOf(wanted ? printOf(wanted, caps) : null, one.agreed, observedPrint)!
    one.state = standing.state
    one.kind = standing.kind
    if (isApexNs(one) && caps.apexNs !== 'rw') {
      Object.assign(one, { state: 'ignored', kind: null, detail: 'The NS of the apex are those of the provider.' })
      continue
    }
    if (one.state === 'synced') {
      one.agreed = observedPrint
      continue
    }
    const fit = wanted ? unfitOf(of, wanted) : undefined
    if (fit) {
      result.unfit.push(fit)
      Object.assign(one, { state: 'unsupported', kind: null, detail: fit.detail })
      continue
    }
    if (one.state === 'unmanaged' && ignored.has(key)) {
      Object.assign(one, { state: 'ignored', kind: null })
      continue
    }
    const isPutBack = (one.state === 'drifted' || one.state === 'conflict') && of.puts(key, one.state)
    if (!isPutBack && one.state !== 'pending' && !(one.state === 'unmanaged' && of.isExclusive)) continue
    if (isPutBack || one.state === 'unmanaged') result.putBack++
    // What failed stays so until it is tried again.
    if (one.state === 'pending' && before?.state === 'error' && before.observed === observedPrint)
      Object.assign(one, { state: 'error', detail: before.detail })
    result.ops.push({
      action: !there ? 'create' : wanted ? 'update' : 'delete',
      name,
      type,
      before: there ?? null,
      after: wanted ? { ...wanted, ttl: ttlKept(wanted.ttl, caps) } : null,
    })
  }
  for (const name of expanded?.names ?? []) {
    const key = rrsetKey({ name, type: 'ALIAS' })
    result.stands.push(standsOfAlias(name, result.stands, of.aliases.has(name)))
    result.gone = result.gone.filter(one => one !== key)
    result.expanded.add(name)
  }
  const deletedAt = new Set(result.ops.filter(one => one.action === 'delete').map(one => one.name))
  result.endangered = result.unfit.filter(one => deletedAt.has(one.name))
  result.observedHash = sha256Hex(prints.sort().join('\n'))
  return result
}

const isApexNs = ({ name, type }: { name: string; type: string }): boolean => name === '@' && type === 'NS'

/** Whether a step that was sent has been done, though its answer was lost, or the hub stopped before it was written down. */
const hasLanded = (before: Known | undefined, observed: string | null): boolean =>
  before !== undefined && before.sent !== null && alike(before.sent || null, observed)

function unfitOf({ caps, unfit }: Reading, rrset: ProviderRrset): Unfit | undefined {
  const { name, type } = rrset
  if (caps.unsupported.has(type)) return { name, type, detail: `The provider has no ${type}.` }
  if (type === 'ALIAS' && caps.alias !== 'native') return { name, type, detail: 'The provider has no ALIAS.' }
  return unfit({ ...rrset, ttl: ttlKept(rrset.ttl, caps) })[0]
}

/** What somebody else changed between two readings: not what was brought there meanwhile, and nothing of what is ignored. */
export function changedByOthers(
  stands: readonly Stands[],
  gone: readonly string[],
  known: ReadonlyMap<string, Known>,
  own: ReadonlySet<string>,
): { name: string; type: string; before: Known | null; after: Stands | null }[] {
  const changed = stands.flatMap(one => {
    const before = known.get(rrsetKey(one))
    if (own.has(rrsetKey(one)) || one.state === 'ignored' || alike(before?.observed ?? null, one.observed)) return []
    if (hasLanded(before, one.observed)) return []
    // Somebody else, or a step whose answer was lost, did what was to be done.
    if (isSynced(one.state) && before?.state !== 'drifted' && before?.state !== 'conflict') return []
    return [{ name: one.name, type: one.type, before: before ?? null, after: one }]
  })
  const removed = gone.flatMap(key => {
    const before = known.get(key)!
    if (own.has(key) || before.observed === null || before.state !== 'unmanaged' || hasLanded(before, null)) return []
    const [name, type] = [key.slice(0, key.lastIndexOf(' ')), key.slice(key.lastIndexOf(' ') + 1)]
    return [{ name, type, before, after: null }]
  })
  return [...changed, ...removed]
}
