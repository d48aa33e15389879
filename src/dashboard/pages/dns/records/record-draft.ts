import type { DnsRecordTypeView, DnsRecordView } from '../../../../features/dns/records/shapes'
import { localInputToIso, toLocalInput } from '../../../parts/timezone'

/** A record being edited. */
export interface Draft {
  name: string
  type: string
  /** Empty for the TTL of the other records, or the default of the zone. */
  ttl: string
  /** The value as text, for types without separate inputs. */
  content: string
  /** The value by field; null if it is edited as text. */
  fields: Record<string, string> | null
  comment: string
  tags: string[]
  locked: boolean
  /** As in a `datetime-local` input. Empty for never. */
  expires: string
}

export const emptyDraft: Draft = {
  name: '',
  type: 'A',
  ttl: '',
  content: '',
  fields: null,
  comment: '',
  tags: [],
  locked: false,
  expires: '',
}

/** The fields of a type that has several simple ones; null if its value is edited as text. */
export function editableFields(types: readonly DnsRecordTypeView[], type: string): DnsRecordTypeView['fields'] | null {
  const fields = types.find(one => one.type === type)?.fields ?? []
  return fields.length > 1 && fields.every(one => one.type !== 'other') ? fields : null
}

/** The draft for editing an existing record. */
export function draftOf(record: DnsRecordView, types: readonly DnsRecordTypeView[]): Draft {
  const { name, type, ttl, comment, tags, locked, expires_at: expiresAt } = record
  const values = Object.entries(record.fields as Record<string, unknown>)
  // Values that aren’t plain text, such as binary data, are edited in zone file format.
  const isPlain =
    editableFields(types, type) !== null && values.every(([, value]) => typeof value === 'string' || typeof value === 'number')
  return {
    name,
    type,
    ttl: String(ttl),
    content: record.value ?? record.content,
    fields: isPlain ? Object.fromEntries(values.map(([field, value]) => [field, String(value)])) : null,
    comment,
    tags,
    locked,
    expires: expiresAt === null ? '' : toLocalInput(new Date(expiresAt).getTime()),
  }
}

/** Changes the type of a draft. Fields with the same name keep their values. */
export const withType = (draft: Draft, type: string, types: readonly DnsRecordTypeView[]): Draft => ({
  ...draft,
  type,
  fields: editableFields(types, type)
    ? Object.fromEntries(editableFields(types, type)!.map(one => [one.name, draft.fields?.[one.name] ?? '']))
    : null,
})

/** Whether a value was entered. */
export const hasValue = ({ content, fields }: Draft): boolean =>
  fields ? Object.values(fields).some(text => text !== '') : content.trim() !== ''

/** The value for the request body. */
function valueOf({ type, content, fields }: Draft, types: readonly DnsRecordTypeView[]): Record<string, unknown> {
  if (!fields) return { content }
  const fieldTypes = editableFields(types, type) ?? []
  return {
    fields: Object.fromEntries(
      Object.entries(fields).map(([name, text]) => {
        const isNumber = fieldTypes.find(one => one.name === name)?.type === 'integer' && /^\d+$/.test(text.trim())
        return [name, isNumber ? Number(text) : text.trim()]
      }),
    ),
  }
}

/** A record name without the name of the zone, which people paste as well: `www.example.com` is `www`. */
export function relativeName(text: string, zone: { name: string; unicode_name: string }): string {
  const name = text.trim()
  const lower = name.toLowerCase()
  for (const own of [zone.name, zone.unicode_name]) {
    if (lower === own) return '@'
    if (lower.endsWith(`.${own}`) && !lower.endsWith(`\\.${own}`)) return name.slice(0, -own.length - 1)
  }
  return name
}

/** The request body that creates the record. */
export const bodyOf = (draft: Draft, types: readonly DnsRecordTypeView[]): Record<string, unknown> => ({
  type: draft.type,
  name: draft.name.trim() || '@',
  ...valueOf(draft, types),
  ...(draft.ttl.trim() !== '' && { ttl: ttlOf(draft.ttl) }),
  ...(draft.comment !== '' && { comment: draft.comment }),
  ...(draft.tags.length > 0 && { tags: draft.tags }),
  ...(draft.locked && { locked: true }),
  ...(draft.expires !== '' && { expires_at: localInputToIso(draft.expires) }),
})

/** The request body that updates the record: only changed fields. */
export function patchOf(draft: Draft, before: Draft, types: readonly DnsRecordTypeView[]): Record<string, unknown> {
  const changed = <Name extends keyof Draft>(name: Name) => JSON.stringify(draft[name]) !== JSON.stringify(before[name])
  return {
    ...(changed('name') && { name: draft.name.trim() || '@' }),
    ...((changed('content') || changed('fields')) && valueOf(draft, types)),
    ...(changed('ttl') && { ttl: ttlOf(draft.ttl) }),
    ...(changed('comment') && { comment: draft.comment }),
    ...(changed('tags') && { tags: draft.tags }),
    ...(changed('expires') && { expires_at: draft.expires === '' ? null : localInputToIso(draft.expires) }),
    // Locked records can only be changed by requests that include `locked`.
    ...((changed('locked') || before.locked) && { locked: draft.locked }),
  }
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** Parses a TTL such as `300` or `1h30m` to seconds. Invalid input is sent to the API unchanged, which returns the error. */
export function ttlOf(text: string): number | string {
  const word = text.trim().toLowerCase()
  if (/^\d+$/.test(word)) return Number(word)
  if (!/^(\d+[smhdw])+$/.test(word)) return text
  return [...word.matchAll(/(\d+)([smhdw])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * unitSeconds[unit!]!, 0)
}

/** Example values of common types, used as placeholders. */
export const exampleValues: Record<string, string> = {
  A: '192.0.2.10',
  AAAA: '2001:db8::10',
  CNAME: 'www.example.net',
  ALIAS: 'www.example.net',
  NS: 'ns1.example.net',
  PTR: 'host.example.net',
  TXT: 'v=spf1 mx -all',
}
