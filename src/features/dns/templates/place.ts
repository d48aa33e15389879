import { namesSenders, isSpf, spfTerms } from '../spf'
import type { WantedRrset } from '../rrset-rules'
import { rrsetKey, type Rrset } from '../zone-rows'
import { Drafts, type Draft, type DraftValue } from './drafts'
import { editOf } from './edits'
import type { PlacedRrset } from './placed'
import type { RenderedRecord } from './render'
import { areRivals, tagOf } from './rivals'
import { mergedSpf, withoutOwnSpf } from './spf-share'

/** What becomes of one record of a template in a zone. */
export interface RecordOutcome {
  record: RenderedRecord
  /**
   * `create`, `replace` and `merge` write it, the latter two where something else is; `keep`: it is there as it should be; `skip`: it
   * is left out for what is there; `left`: it is not essential and was edited by hand; `conflict`: nothing can be applied for it.
   */
  outcome: 'create' | 'keep' | 'merge' | 'replace' | 'skip' | 'left' | 'conflict'
  /** What else is there. */
  others: { name: string; type: string; content: string }[]
  detail: string | null
}

/** What of an rrset other bindings of the zone rely on. */
export interface Shared {
  hashes: ReadonlySet<string>
  /** Terms of SPF records, in lower case. */
  terms: ReadonlySet<string>
}

/** A template as it comes to stand in a zone. */
export interface Placing {
  /** Only what changes. */
  wanted: WantedRrset[]
  placed: PlacedRrset[]
  outcomes: RecordOutcome[]
}

/**
 * Puts the records of a template among those of a zone. What the binding put there before goes where the template has it no more; what
 * it had as its own is restored, and what others put beside it stays or goes as each record says.
 * @param existing all rrsets at the names of `rendered` and `before`, by rrsetKey
 * @param before what the binding put there the last time
 * @param shared by rrsetKey
 */
export function place(of: {
  rendered: readonly RenderedRecord[]
  existing: ReadonlyMap<string, Rrset>
  before: readonly PlacedRrset[]
  shared: ReadonlyMap<string, Shared>
  defaultTtl: number
}): Placing {
  const drafts = new Drafts(of.existing)
  const groups = Map.groupBy(of.rendered, rrsetKey)
  const old = new Map(of.before.map(one => [rrsetKey(one), one]))
  const left = new Set<string>()
  const placed: PlacedRrset[] = []
  for (const [key, one] of old) {
    if (groups.has(key) && !one.essential && editOf(one, of.existing.get(key))) left.add(key)
    else takeBack(drafts.at(one), one, groups.get(key) ?? [], of.shared.get(key))
  }
  const outcomes: RecordOutcome[] = []
  for (const [key, records] of groups) {
    if (left.has(key)) {
      placed.push(old.get(key)!)
      outcomes.push(...records.map(record => told(record, 'left', [], 'It is not essential, and was edited by hand.')))
      continue
    }
    const group = new Group(drafts, records, old.get(key), of.shared.get(key), of.defaultTtl)
    outcomes.push(...records.map(record => group.put(record)))
    placed.push(...group.finish())
  }
  return { wanted: drafts.wanted(), placed, outcomes: outcomes.sort((a, b) => a.record.index - b.record.index) }
}

const told = (
  record: RenderedRecord,
  outcome: RecordOutcome['outcome'],
  others: RecordOutcome['others'] = [],
  detail: string | null = null,
): RecordOutcome => ({ record, outcome, others, detail })

/** Takes away what a binding made and its template has no more, but for what other bindings rely on. */
function takeBack(draft: Draft, before: PlacedRrset, records: readonly RenderedRecord[], shared: Shared | undefined): void {
  const stays = (hash: string) => records.some(one => one.value.hash === hash) || shared?.hashes.has(hash)
  const made = new Set(before.values.filter(one => one.made).map(one => one.hash))
  const isRestored = before.whole && records.length > 0
  draft.keepOnly(value => stays(value.hash) === true || (!isRestored && !made.has(value.hash)))
  if (before.spf && !records.some(isMerged)) {
    const current = draft.values.filter(value => value.text !== null && isSpf(value.text))
    if (current.length === 1) draft.rewrite(current[0]!, withoutOwnSpf(current[0]!.text!, before.spf, shared?.terms))
  }
}

const isMerged = (record: RenderedRecord): boolean => record.onConflict === 'merge' && record.text !== null && isSpf(record.text)

const mostOthers = 20

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

  put(record: RenderedRecord): RecordOutcome {
    if (isMerged(record)) return this.#putSpf(record)
    const { hash, content } = record.value
    const isOurs = this.before?.values.some(one => one.hash === hash) === true && this.#draft.has(hash)
    const competing = isOurs ? [] : this.#competing(record)
    const rivals = this.#rivals(record)
    const others = [
      ...rivals.flatMap(one => one.values.map(value => shown(one, value))),
      ...competing.map(one => shown(this.#draft, one)),
    ]
    const tag = record.text === null ? null : tagOf(record.text)
    // What is where its own was is an edit of that.
    const isRestored = rivals.length === 0 && tag !== null && this.before?.values.some(one => one.tag === tag) === true
    const way = isRestored ? 'replace' : record.onConflict
    if (others.length > 0) {
      if (way === 'skip') return told(record, 'skip', others.slice(0, mostOthers), 'Something else is there.')
      if (way === 'fail' || (way === 'merge' && rivals.length > 0))
        return told(
          record,
          'conflict',
          others.slice(0, mostOthers),
          way === 'fail' ? 'Something else is there.' : 'What is there cannot be at one name with it.',
        )
      if (way === 'replace') {
        for (const rival of rivals) rival.keepOnly(() => false)
        this.#draft.keepOnly(value => !competing.includes(value))
      }
    }
    const wasThere = this.#draft.has(hash)
    const made = this.before?.values.find(one => one.hash === hash)?.made ?? !wasThere
    if (!this.#values.some(one => one.hash === hash)) this.#values.push({ hash, content, tag, made })
    if (!wasThere) this.#draft.add({ ...record.value, text: record.text, pointer: record.pointer })
    if (others.length > 0) return told(record, way === 'replace' ? 'replace' : 'merge', others.slice(0, mostOthers))
    return told(record, wasThere ? 'keep' : 'create')
  }

  /** Values that are there for what the record is for. A name has one TXT of a kind, and as many others as are put there. */
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

  #rivals({ name, type }: RenderedRecord): Draft[] {
    return this.drafts
      .of(name)
      .filter(one => areRivals(type, one.type, name === '@') && one.values.some(value => value.record !== null))
  }

  #putSpf(record: RenderedRecord): RecordOutcome {
    const terms = spfTerms(record.text!).filter(namesSenders)
    const current = this.#draft.values.filter(value => value.text !== null && isSpf(value.text))
    const rivals = this.#rivals(record)
    const others = [
      ...rivals.flatMap(one => one.values.map(value => shown(one, value))),
      ...(current.length > 1 ? current.map(one => shown(this.#draft, one)) : []),
    ]
    if (others.length > 0)
      return told(
        record,
        'conflict',
        others.slice(0, mostOthers),
        rivals.length > 0 ? 'What is there cannot be at one name with it.' : 'There are several SPF records (RFC 7208 3.2).',
      )
    const [own] = current
    if (!own) {
      this.#spf = { terms, added: terms, made: true }
      this.#draft.add({ ...record.value, text: record.text, pointer: record.pointer })
      return told(record, 'create')
    }
    const merged = mergedSpf(own.text!, terms, this.before?.spf ?? null, this.shared?.terms)
    this.#spf = merged.spf
    if (merged.text === own.text) return told(record, 'keep')
    this.#draft.rewrite(own, merged.text, record.pointer)
    return told(record, 'merge', [shown(this.#draft, own)])
  }

  /** What of it the binding put there; nothing where all was skipped. */
  finish(): PlacedRrset[] {
    if (this.#values.length === 0 && !this.#spf) return []
    const [first] = this.records
    const own = new Set(this.#values.map(one => one.hash))
    const isShared = this.#draft.values.some(
      value => !own.has(value.hash) && !(this.#spf?.made && value.text !== null && isSpf(value.text)),
    )
    const ttl = isShared ? null : first!.ttl
    this.#draft.settle(ttl ?? this.#draft.ttl ?? this.defaultTtl, this.records.find(one => one.comment !== null)?.comment ?? null)
    return [
      {
        name: first!.name,
        type: first!.type,
        ttl,
        whole: !isShared && first!.type !== 'TXT' && first!.onConflict !== 'merge',
        essential: this.records.some(one => one.essential),
        values: this.#values,
        spf: this.#spf,
      },
    ]
  }
}

const shown = ({ name, type }: Draft, { content }: DraftValue) => ({ name, type, content })
