import type { DnsRecordTypeView, DnsRecordView } from '../../../../features/dns/record-shapes'

/** A record as it is being typed. */
export interface Draft {
  name: string
  type: string
  /** Empty takes that of the others, or of the zone. */
  ttl: string
  /** The value as one text; what is typed where the type has no inputs of its own. */
  content: string
  /** The value by its parts; null where it is typed as one text. */
  parts: Record<string, string> | null
  comment: string
  tags: string[]
  locked: boolean
}

export const emptyDraft: Draft = {
  name: '',
  type: 'A',
  ttl: '',
  content: '',
  parts: null,
  comment: '',
  tags: [],
  locked: false,
}

/** The parts that a type is typed by: where it has several, each a number or a text. Null where it is typed as one text. */
export function partsOf(types: readonly DnsRecordTypeView[], type: string): DnsRecordTypeView['fields'] | null {
  const fields = types.find(one => one.type === type)?.fields ?? []
  return fields.length > 1 && fields.every(one => one.form !== 'other') ? fields : null
}

/** A record as it is before it is edited. */
export function draftOf(record: DnsRecordView, types: readonly DnsRecordTypeView[]): Draft {
  const { name, type, ttl, fields, comment, tags, locked } = record
  const parts = partsOf(types, type)
  const values = Object.entries(fields as Record<string, unknown>)
  // What is no text, such as octets that are no UTF-8, is typed as in zone files.
  const isPlain = parts !== null && values.every(([, value]) => typeof value === 'string' || typeof value === 'number')
  return {
    name,
    type,
    ttl: String(ttl),
    content: record.value ?? record.content,
    parts: isPlain ? Object.fromEntries(values.map(([field, value]) => [field, String(value)])) : null,
    comment,
    tags,
    locked,
  }
}

/** The draft with another type: what was typed of the value goes along where it can. */
export const withType = (draft: Draft, type: string, types: readonly DnsRecordTypeView[]): Draft => ({
  ...draft,
  type,
  parts: partsOf(types, type)
    ? Object.fromEntries(partsOf(types, type)!.map(one => [one.name, draft.parts?.[one.name] ?? '']))
    : null,
})

/** Whether anything of the value was typed. */
export const hasValue = ({ content, parts }: Draft): boolean =>
  parts ? Object.values(parts).some(text => text !== '') : content.trim() !== ''

/** The value as the API takes it. */
export function valueOf({ type, content, parts }: Draft, types: readonly DnsRecordTypeView[]): Record<string, unknown> {
  if (!parts) return { content }
  const forms = partsOf(types, type) ?? []
  return {
    fields: Object.fromEntries(
      Object.entries(parts).map(([name, text]) => {
        const isNumber = forms.find(one => one.name === name)?.form === 'integer' && /^\d+$/.test(text.trim())
        return [name, isNumber ? Number(text) : text.trim()]
      }),
    ),
  }
}

/** The body of a request that makes the record. */
export const bodyOf = (draft: Draft, types: readonly DnsRecordTypeView[]): Record<string, unknown> => ({
  type: draft.type,
  name: draft.name.trim() || '@',
  ...valueOf(draft, types),
  ...(draft.ttl.trim() !== '' && { ttl: ttlOf(draft.ttl) }),
  ...(draft.comment !== '' && { comment: draft.comment }),
  ...(draft.tags.length > 0 && { tags: draft.tags }),
  ...(draft.locked && { locked: true }),
})

/** What of the record the draft changes, as the API takes it. */
export function patchOf(draft: Draft, before: Draft, types: readonly DnsRecordTypeView[]): Record<string, unknown> {
  const changed = <Name extends keyof Draft>(name: Name) => JSON.stringify(draft[name]) !== JSON.stringify(before[name])
  return {
    ...(changed('name') && { name: draft.name.trim() || '@' }),
    ...((changed('content') || changed('parts')) && valueOf(draft, types)),
    ...(changed('ttl') && { ttl: ttlOf(draft.ttl) }),
    ...(changed('comment') && { comment: draft.comment }),
    ...(changed('tags') && { tags: draft.tags }),
    // Who edits what is locked says so by naming the lock.
    ...((changed('locked') || before.locked) && { locked: draft.locked }),
  }
}

const spans: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Seconds of a TTL as zone files have it, `1h30m` too; what is none of that goes to the API as it is, which says why not. */
export function ttlOf(text: string): number | string {
  const word = text.trim().toLowerCase()
  if (/^\d+$/.test(word)) return Number(word)
  if (!/^(\d+[smhdw])+$/.test(word)) return text
  return [...word.matchAll(/(\d+)([smhdw])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * spans[unit!]!, 0)
}

/** What a value of a type looks like, for the usual ones. */
export const likes: Record<string, string> = {
  A: '192.0.2.10',
  AAAA: '2001:db8::10',
  CNAME: 'www.example.net',
  ALIAS: 'www.example.net',
  NS: 'ns1.example.net',
  PTR: 'host.example.net',
  TXT: 'v=spf1 mx -all',
}
