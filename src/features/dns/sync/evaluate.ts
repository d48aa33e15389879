import { sha256Hex } from '../../../core/crypto'
import { textOf } from '../../../dns/rdata'
import type { AliasAddresses } from '../aliases/expand'
import type { Caps, DnsProvider, ForeignEntry, Op, ProviderRrset, Snapshot, UnsupportedRrset } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import type { ZoneRow } from '../zones/rows'
import type { IgnoreRule } from '../zones/shapes'
import { defaultIgnoreRules, ignoredKeys } from '../drift/ignore-rules'
import { fingerprintsMatch, fingerprintOf, foreignMark, effectiveTtl } from './fingerprint'
import { stateOfAlias, expandDesired } from './expand-desired'
import { isSynced, threeWayState, type KnownState, type RrsetSyncState } from './three-way'

export interface EvaluationInput {
  desired: ReadonlyMap<string, ProviderRrset>
  known: ReadonlyMap<string, KnownState>
  observed: readonly ProviderRrset[]
  /** What exists there and can't be compared. */
  foreign: readonly ForeignEntry[]
  caps: Caps
  /** Addresses that ALIASes resolve to, by name. */
  aliases: ReadonlyMap<string, AliasAddresses>
  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[]
  rules: readonly IgnoreRule[]
  /** Delete unmanaged rrsets. */
  deletesUnmanaged: boolean
  /** First read of the target, or of a changed provider: earlier agreed states don't count. */
  isFirst: boolean
  /** The zone was just created there: its initial records belong to nobody. */
  isNew: boolean
  /** Whether an external change is reverted. */
  enforces: (key: string, state: 'drifted' | 'conflict') => boolean
}

/** The part of the input that depends only on the zone and the provider. */
export const evaluationInput = (
  zone: Pick<ZoneRow, 'ignoreRules'>,
  provider: DnsProvider,
  { rrsets, foreign = [], minTtl }: Pick<Snapshot, 'rrsets' | 'foreign' | 'minTtl'>,
  known: ReadonlyMap<string, KnownState>,
) => ({
  known,
  observed: rrsets,
  foreign,
  caps: capsInZone(provider.caps, minTtl),
  findUnsupported: (rrset: ProviderRrset) => provider.findUnsupported(rrset),
  rules: zone.ignoreRules ?? defaultIgnoreRules,
})

/** The capabilities of a provider in a zone. @param minTtl of the zone, if it has its own */
const capsInZone = (caps: Caps, minTtl: number | undefined): Caps =>
  minTtl === undefined ? caps : { ...caps, ttl: { ...caps.ttl, min: minTtl } }

export interface Evaluated {
  /** All rrsets that are desired or observed. */
  states: RrsetSyncState[]
  /** Keys of known rrsets that are neither desired nor observed anymore. */
  absent: string[]
  /** Steps that bring the target to the desired state, as far as policies allow. */
  ops: Op[]
  /** How many of the steps revert external changes. */
  enforcedCount: number
  /** Unsupported rrsets at names where another rrset would be deleted: the name would be lost. */
  blockingUnsupported: UnsupportedRrset[]
  /** All rrsets that the target doesn't support. */
  unsupported: UnsupportedRrset[]
  /** Names with addresses in place of an ALIAS. */
  expanded: Set<string>
  /** Hash over all observed rrsets. */
  observedHash: string
}

/** Compares what was read from a target with the desired state and the last agreed state. Pure: no I/O. */
export function evaluate(of: EvaluationInput): Evaluated {
  const { known, caps } = of
  const observed = new Map(of.observed.map(one => [rrsetKey(one), one]))
  const foreign = Map.groupBy(of.foreign, rrsetKey)
  const expanded = caps.alias === 'expand' ? expandDesired(of.desired, observed, of.aliases) : null
  const desired = expanded?.desired ?? of.desired
  const ignored = ignoredKeys(of.observed, of.rules)
  const result: Evaluated = {
    states: [],
    absent: [],
    ops: [],
    enforcedCount: 0,
    blockingUnsupported: [],
    unsupported: [],
    expanded: new Set(),
    observedHash: '',
  }
  const prints: string[] = []
  for (const key of new Set([...desired.keys(), ...observed.keys(), ...foreign.keys(), ...known.keys()])) {
    const wanted = desired.get(key)
    const entries = foreign.get(key)
    if (entries) {
      const one = foreignState(entries, wanted !== undefined)
      prints.push(`${key} ${foreignMark}`)
      result.states.push(one)
      if (wanted) result.unsupported.push({ name: one.name, type: one.type, detail: one.detail! })
      continue
    }
    const there = observed.get(key)
    const before = of.isFirst ? undefined : known.get(key)
    const observedFingerprint = there ? fingerprintOf(there, caps) : null
    if (observedFingerprint) prints.push(`${key} ${observedFingerprint}`)
    if (!wanted && !there) {
      result.absent.push(key)
      continue
    }
    const { name, type } = (wanted ?? there)!
    const one: RrsetSyncState = {
      name,
      type,
      // A step that arrived counts as agreed, even if something else is desired by now.
      agreed: wasApplied(before, observedFingerprint) ? observedFingerprint : (before?.agreed ?? null),
      observed: observedFingerprint,
      observedTtl: there?.ttl ?? null,
      observedValues:
        there && before?.observed === observedFingerprint && before.observedValues
          ? before.observedValues
          : (there?.values.map(value => textOf(type, value)) ?? null),
      sent: null,
      state: 'unknown',
      kind: null,
      detail: null,
    }
    result.states.push(one)
    if (of.isNew && wanted && isApexNs(one)) one.agreed = observedFingerprint
    const threeWay = threeWayState(wanted ? fingerprintOf(wanted, caps) : null, one.agreed, observedFingerprint)!
    one.state = threeWay.state
    one.kind = threeWay.kind
    if (isApexNs(one) && caps.apexNs !== 'rw') {
      Object.assign(one, { state: 'ignored', kind: null, detail: 'The provider manages the NS records at the apex.' })
      continue
    }
    if (one.state === 'synced') {
      one.agreed = observedFingerprint
      continue
    }
    const fit = wanted ? unsupportedReason(of, wanted) : undefined
    if (fit) {
      result.unsupported.push(fit)
      Object.assign(one, { state: 'unsupported', kind: null, detail: fit.detail })
      continue
    }
    if (one.state === 'unmanaged' && ignored.has(key)) {
      Object.assign(one, { state: 'ignored', kind: null })
      continue
    }
    const isEnforced = (one.state === 'drifted' || one.state === 'conflict') && of.enforces(key, one.state)
    if (!isEnforced && one.state !== 'pending' && !(one.state === 'unmanaged' && of.deletesUnmanaged)) continue
    if (isEnforced || one.state === 'unmanaged') result.enforcedCount++
    // A failed step stays failed until it is retried.
    if (one.state === 'pending' && before?.state === 'error' && before.observed === observedFingerprint)
      Object.assign(one, { state: 'error', detail: before.detail })
    result.ops.push({
      action: !there ? 'create' : wanted ? 'update' : 'delete',
      name,
      type,
      before: there ?? null,
      after: wanted ? { ...wanted, ttl: effectiveTtl(wanted.ttl, caps) } : null,
    })
  }
  for (const name of expanded?.names ?? []) {
    const key = rrsetKey({ name, type: 'ALIAS' })
    result.states.push(stateOfAlias(name, result.states, of.aliases.has(name)))
    result.absent = result.absent.filter(one => one !== key)
    result.expanded.add(name)
  }
  const deletedAt = new Set(result.ops.filter(one => one.action === 'delete').map(one => one.name))
  result.blockingUnsupported = result.unsupported.filter(one => deletedAt.has(one.name))
  result.observedHash = sha256Hex(prints.sort().join('\n'))
  return result
}

/** State of what is not a plain rrset. A record with the same name and type can't be synced. */
function foreignState(entries: readonly ForeignEntry[], isWanted: boolean): RrsetSyncState {
  const { name, type } = entries[0]!
  const details = entries.map(one => one.detail)
  return {
    name,
    type,
    agreed: null,
    observed: foreignMark,
    observedTtl: null,
    observedValues: details,
    sent: null,
    state: isWanted ? 'unsupported' : 'ignored',
    kind: null,
    detail:
      `${isWanted ? 'The provider has something else here, which Bailiwick doesn’t change: ' : ''}${details.join('; ')}`.slice(
        0,
        500,
      ),
  }
}

const isApexNs = ({ name, type }: { name: string; type: string }): boolean => name === '@' && type === 'NS'

/** Returns whether a step took effect although its response was lost, or the hub stopped before storing it. */
const wasApplied = (before: KnownState | undefined, observed: string | null): boolean =>
  before !== undefined && before.sent !== null && fingerprintsMatch(before.sent || null, observed)

function unsupportedReason({ caps, findUnsupported }: EvaluationInput, rrset: ProviderRrset): UnsupportedRrset | undefined {
  const { name, type } = rrset
  if (caps.unsupported.has(type)) return { name, type, detail: `The provider doesn’t support ${type} records.` }
  if (caps.recordsMax !== undefined && rrset.values.length > caps.recordsMax) {
    const detail = `The provider allows up to ${caps.recordsMax} records with the same name and type; there are ${rrset.values.length}.`
    return { name, type, detail }
  }
  if (type === 'ALIAS' && caps.alias !== 'native') return { name, type, detail: 'The provider doesn’t support ALIAS records.' }
  return findUnsupported({ ...rrset, ttl: effectiveTtl(rrset.ttl, caps) })[0]
}

/** External changes between two reads: excludes our own steps and ignored rrsets. */
export function externalChanges(
  states: readonly RrsetSyncState[],
  absent: readonly string[],
  known: ReadonlyMap<string, KnownState>,
  own: ReadonlySet<string>,
): { name: string; type: string; before: KnownState | null; after: RrsetSyncState | null }[] {
  const changed = states.flatMap(one => {
    const before = known.get(rrsetKey(one))
    if (own.has(rrsetKey(one)) || one.state === 'ignored' || fingerprintsMatch(before?.observed ?? null, one.observed)) return []
    if (wasApplied(before, one.observed)) return []
    // Someone else, or a step with a lost response, already made the desired change.
    if (isSynced(one.state) && before?.state !== 'drifted' && before?.state !== 'conflict') return []
    return [{ name: one.name, type: one.type, before: before ?? null, after: one }]
  })
  const removed = absent.flatMap(key => {
    const before = known.get(key)!
    if (own.has(key) || before.observed === null || before.state !== 'unmanaged' || wasApplied(before, null)) return []
    const [name, type] = [key.slice(0, key.lastIndexOf(' ')), key.slice(key.lastIndexOf(' ') + 1)]
    return [{ name, type, before, after: null }]
  })
  return [...changed, ...removed]
}
