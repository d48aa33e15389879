import { namesSenders, isSpf, spfTerms } from '../records/spf'
import type { WantedRrset } from '../changes/rrset-rules'
import { rrsetKey } from '../zones/names'
import { type Rrset } from '../records/rows'
import { Drafts, type Draft, type DraftValue } from './drafts'
import { differenceOf } from './differences'
import type { PlacedRrset } from './placed-rrsets'
import type { RenderedRecord } from './render'
import { cannotCoexist, tagOf } from './record-conflicts'
import { mergedSpf, withoutBindingTerms } from './shared-spf'

/** The outcome for one record of a template in a zone. */
export interface RecordOutcome {
  record: RenderedRecord
  /**
   * `create`, `replace` and `merge` write the record, the latter two where conflicting records exist. `keep`: it already exists.
   * `skip`: it is skipped because of conflicting records. `keep_modified`: it is not essential and was edited manually.
   * `conflict`: it prevents the template from being applied.
   */
  outcome: 'create' | 'keep' | 'merge' | 'replace' | 'skip' | 'keep_modified' | 'conflict'
  /** Conflicting records in the zone. */
  existing: { name: string; type: string; content: string }[]
  detail: string | null
}

/** What other bindings of the zone use of an rrset. */
export interface Shared {
  hashes: ReadonlySet<string>
  /** Terms of SPF records, in lower case. */
  terms: ReadonlySet<string>
}

/** The result of placing a template in a zone. */
export interface Placement {
  /** Only rrsets that change. */
  wanted: WantedRrset[]
  placed: PlacedRrset[]
  outcomes: RecordOutcome[]
}

/**
 * Places the records of a template in a zone. Removes records that the binding placed before and the template no longer has, and
 * restores those that were edited. Other records at the same names are handled as `on_conflict` of each record says.
 * @param existing all rrsets at the names of `rendered` and `before`, by rrsetKey
 * @param before what the binding placed the last time
 * @param shared what other bindings use, by rrsetKey
 */
export function place(of: {
  rendered: readonly RenderedRecord[]
  existing: ReadonlyMap<string, Rrset>
  before: readonly PlacedRrset[]
  shared: ReadonlyMap<string, Shared>
  defaultTtl: number
}): Placement {
  const drafts = new Drafts(of.existing)
  const groups = Map.groupBy(of.rendered, rrsetKey)
  const old = new Map(of.before.map(one => [rrsetKey(one), one]))
  const keptModified = new Set<string>()
  const placed: PlacedRrset[] = []
  for (const [key, one] of old) {
    if (groups.has(key) && !one.essential && differenceOf(one, of.existing.get(key))) keptModified.add(key)
    else removePlaced(drafts.at(one), one, groups.get(key) ?? [], of.shared.get(key))
  }
  const outcomes: RecordOutcome[] = []
  for (const [key, records] of groups) {
    if (keptModified.has(key)) {
      placed.push(old.get(key)!)
      outcomes.push(...records.map(record => outcomeOf(record, 'keep_modified', [], 'Not essential, and edited manually.')))
      continue
    }
    const group = new Group(drafts, records, old.get(key), of.shared.get(key), of.defaultTtl)
    outcomes.push(...records.map(record => group.add(record)))
    placed.push(...group.finish())
  }
  return { wanted: drafts.wanted(), placed, outcomes: outcomes.sort((a, b) => a.record.index - b.record.index) }
}

const outcomeOf = (
  record: RenderedRecord,
  outcome: RecordOutcome['outcome'],
  existing: RecordOutcome['existing'] = [],
  detail: string | null = null,
): RecordOutcome => ({ record, outcome, existing, detail })

/** Removes what a binding created and its template no longer has, except values that other bindings use. */
function removePlaced(draft: Draft, before: PlacedRrset, records: readonly RenderedRecord[], shared: Shared | undefined): void {
  const isStillUsed = (hash: string) => records.some(one => one.value.hash === hash) || shared?.hashes.has(hash)
  const created = new Set(before.values.filter(one => one.created).map(one => one.hash))
  const isRestored = before.exclusive && records.length > 0
  draft.retain(value => isStillUsed(value.hash) === true || (!isRestored && !created.has(value.hash)))
  if (before.spf && !records.some(isMergedSpf)) {
    const current = draft.values.filter(value => value.text !== null && isSpf(value.text))
    if (current.length === 1) draft.rewrite(current[0]!, withoutBindingTerms(current[0]!.text!, before.spf, shared?.terms))
  }
}

const isMergedSpf = (record: RenderedRecord): boolean =>
  record.onConflict === 'merge' && record.text !== null && isSpf(record.text)

const maxExistingShown = 20

/** The records of a template at one name and type. */
class Group {
  readonly #draft: Draft
  readonly #hashes: ReadonlySet<string>
  #values: PlacedRrset['values'] = []
  #spf: PlacedRrset['spf'] = null

  constructor(
    private readonly drafts: Drafts,
    private readonly records: readonly RenderedRecord[],
    private readonly before: PlacedRrset | undefined,
    private readonly shared: Shared | undefined,
    private readonly defaultTtl: number,
  ) {
    this.#draft = drafts.at(records[0]!)
    this.#hashes = new Set(records.map(one => one.value.hash))
  }

  add(record: RenderedRecord): RecordOutcome {
    if (isMergedSpf(record)) return this.#mergeSpf(record)
    const { hash, content } = record.value
    const isOurs = this.before?.values.some(one => one.hash === hash) === true && this.#draft.has(hash)
    const competing = isOurs ? [] : this.#competing(record)
    const conflicting = this.#conflictingTypes(record)
    const existing = [
      ...conflicting.flatMap(one => one.values.map(value => shown(one, value))),
      ...competing.map(one => shown(this.#draft, one)),
    ]
    const tag = record.text === null ? null : tagOf(record.text)
    // A different value where the binding placed its own is an edit of it.
    const isRestored = conflicting.length === 0 && tag !== null && this.before?.values.some(one => one.tag === tag) === true
    const mode = isRestored ? 'replace' : record.onConflict
    if (existing.length > 0) {
      if (mode === 'skip') return outcomeOf(record, 'skip', existing.slice(0, maxExistingShown), 'Conflicting records exist.')
      if (mode === 'fail' || (mode === 'merge' && conflicting.length > 0))
        return outcomeOf(
          record,
          'conflict',
          existing.slice(0, maxExistingShown),
          mode === 'fail' ? 'Conflicting records exist.' : 'Existing records of other types can’t coexist with it.',
        )
      if (mode === 'replace') {
        for (const draft of conflicting) draft.retain(() => false)
        this.#draft.retain(value => !competing.includes(value))
      }
    }
    const existed = this.#draft.has(hash)
    const created = this.before?.values.find(one => one.hash === hash)?.created ?? !existed
    if (!this.#values.some(one => one.hash === hash)) this.#values.push({ hash, content, tag, created })
    if (!existed) this.#draft.add({ ...record.value, text: record.text, pointer: record.pointer })
    if (existing.length > 0)
      return outcomeOf(record, mode === 'replace' ? 'replace' : 'merge', existing.slice(0, maxExistingShown))
    return outcomeOf(record, existed ? 'keep' : 'create')
  }

  /** Values that the record competes with. TXT values compete only with values of the same tag. */
  #competing(record: RenderedRecord): DraftValue[] {
    const tag = record.text === null ? null : tagOf(record.text)
    if (record.type === 'TXT' && tag === null) return []
    return this.#draft.values.filter(
      value =>
        value.record !== null &&
        !this.#hashes.has(value.hash) &&
        (record.type !== 'TXT' || (value.text !== null && tagOf(value.text) === tag)),
    )
  }

  #conflictingTypes({ name, type }: RenderedRecord): Draft[] {
    return this.drafts
      .of(name)
      .filter(one => cannotCoexist(type, one.type, name === '@') && one.values.some(value => value.record !== null))
  }

  #mergeSpf(record: RenderedRecord): RecordOutcome {
    const terms = spfTerms(record.text!).filter(namesSenders)
    const current = this.#draft.values.filter(value => value.text !== null && isSpf(value.text))
    const conflicting = this.#conflictingTypes(record)
    const existing = [
      ...conflicting.flatMap(one => one.values.map(value => shown(one, value))),
      ...(current.length > 1 ? current.map(one => shown(this.#draft, one)) : []),
    ]
    if (existing.length > 0)
      return outcomeOf(
        record,
        'conflict',
        existing.slice(0, maxExistingShown),
        conflicting.length > 0
          ? 'Existing records of other types can’t coexist with it.'
          : 'The name has more than one SPF record (RFC 7208 3.2).',
      )
    const [own] = current
    if (!own) {
      this.#spf = { terms, added: terms, created: true }
      this.#draft.add({ ...record.value, text: record.text, pointer: record.pointer })
      return outcomeOf(record, 'create')
    }
    const merged = mergedSpf(own.text!, terms, this.before?.spf ?? null, this.shared?.terms)
    this.#spf = merged.spf
    if (merged.text === own.text) return outcomeOf(record, 'keep')
    this.#draft.rewrite(own, merged.text, record.pointer)
    return outcomeOf(record, 'merge', [shown(this.#draft, own)])
  }

  /** What the binding placed; empty if all records were skipped. */
  finish(): PlacedRrset[] {
    if (this.#values.length === 0 && !this.#spf) return []
    const [first] = this.records
    const own = new Set(this.#values.map(one => one.hash))
    const isShared = this.#draft.values.some(
      value => !own.has(value.hash) && !(this.#spf?.created && value.text !== null && isSpf(value.text)),
    )
    const ttl = isShared ? null : first!.ttl
    this.#draft.setTerms(
      ttl ?? this.#draft.ttl ?? this.defaultTtl,
      this.records.find(one => one.comment !== null)?.comment ?? null,
    )
    return [
      {
        name: first!.name,
        type: first!.type,
        ttl,
        exclusive: !isShared && first!.type !== 'TXT' && first!.onConflict !== 'merge',
        essential: this.records.some(one => one.essential),
        values: this.#values,
        spf: this.#spf,
      },
    ]
  }
}

const shown = ({ name, type }: Draft, { content }: DraftValue) => ({ name, type, content })
