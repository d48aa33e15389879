import { octetsOf } from '../../../dns/octets'
import { rdataOfTxt } from '../../../dns/rdata'
import { joinedText, storedValue, valueOfRdata } from '../records/values'
import type { WantedRrset, WantedValue } from '../changes/rrset-rules'
import { rrsetKey } from '../zones/names'
import { type RecordRow, type Rrset } from '../records/rows'

/** A value of an rrset that is being changed. */
export interface DraftValue extends WantedValue {
  /** For TXT: the strings, joined. */
  text: string | null
  /** The record in the zone with this value; null for a new value. */
  record: RecordRow | null
}

/** An rrset that is being modified. */
export class Draft {
  values: DraftValue[]
  /** Seconds; null if not set yet. */
  ttl: number | null
  #comment: string | null = null
  #pointer: string | null = null

  constructor(
    readonly name: string,
    readonly type: string,
    readonly existing: Rrset | undefined,
  ) {
    this.ttl = existing?.row.ttl ?? null
    this.values = (existing?.records ?? []).map(record => ({
      ...storedValue(record),
      text: joinedText(type, record.rdata),
      record,
      pointer: '#',
    }))
  }

  has(hash: string): boolean {
    return this.values.some(value => value.hash === hash)
  }

  retain(predicate: (value: DraftValue) => boolean): void {
    this.values = this.values.filter(predicate)
  }

  add(value: Omit<DraftValue, 'record'>): void {
    this.values.push({ ...value, record: null })
    this.#pointer ??= value.pointer
  }

  /** Replaces the text of a TXT value and keeps its record. @param text null removes the value */
  rewrite(value: DraftValue, text: string | null, pointer = '#'): void {
    if (text === null) {
      this.retain(one => one !== value)
      return
    }
    const { record } = value
    const rewritten = {
      ...valueOfRdata(this.type, rdataOfTxt(octetsOf(text))),
      ...(record && { keep: record }),
      text,
      record,
      pointer,
    }
    this.values = this.values.map(one => (one === value ? rewritten : one))
  }

  /** @param comment only used for a new rrset; an existing one keeps its own */
  setTerms(ttl: number, comment: string | null): void {
    this.ttl = ttl
    this.#comment = comment
  }

  /** The desired rrset; null if nothing changed. */
  wanted(): WantedRrset | null {
    const { name, type, values, existing } = this
    const ttl = this.ttl ?? existing?.row.ttl ?? 0
    const hashes = new Set(values.map(value => value.hash))
    const isSame =
      (existing?.records.length ?? 0) === values.length &&
      (existing?.records ?? []).every(record => hashes.has(record.rdataHash)) &&
      (values.length === 0 || existing?.row.ttl === ttl)
    if (isSame) return null
    return {
      name,
      type,
      ttl,
      comment: existing ? null : this.#comment,
      values: values.map(({ text: _text, record: _record, ...value }) => value),
      pointer: this.#pointer ?? values.find(value => value.pointer !== '#')?.pointer ?? '#',
    }
  }
}

/** The rrsets of a zone that a change may modify. */
export class Drafts {
  readonly #drafts = new Map<string, Draft>()

  constructor(private readonly existing: ReadonlyMap<string, Rrset>) {}

  at({ name, type }: { name: string; type: string }): Draft {
    const key = rrsetKey({ name, type })
    const draft = this.#drafts.get(key) ?? new Draft(name, type, this.existing.get(key))
    this.#drafts.set(key, draft)
    return draft
  }

  /** All rrsets at a name. */
  of(name: string): Draft[] {
    for (const { row } of this.existing.values()) if (row.name === name) this.at(row)
    return [...this.#drafts.values()].filter(one => one.name === name)
  }

  /** The rrsets that change, in the order they were first accessed. */
  wanted(): WantedRrset[] {
    return [...this.#drafts.values()].flatMap(one => one.wanted() ?? [])
  }
}
