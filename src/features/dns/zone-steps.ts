import { isDeepStrictEqual } from 'node:util'
import { canonicalJson } from '../../core/canonical-json'
import { newId } from '../../core/ids'
import type { RecordChange, RecordForm } from './changed-event'
import type { RrsetStep } from './history/journal'
import type { RrsetOptions } from './providers/provider'
import { marksOf, membersAfter, sameMembers } from './rrset-members'
import type { WantedRrset } from './rrset-rules'
import type { dnsRecordMarks, RecordSource } from './tables'
import { rrsetKey, type RecordRow, type Rrset, type RrsetRow, type ZoneRow } from './zone-rows'
import { reversedName } from './zone-names'

/** What is to be written, and what is to be told of it. */
export interface Steps {
  changes: RecordChange[]
  touched: { name: string; type: string; pointer: string }[]
  newRrsets: RrsetRow[]
  changedRrsets: RrsetRow[]
  removedRrsets: string[]
  inserts: RecordRow[]
  /** Records whose value changes. */
  updates: RecordRow[]
  /** Records that stay, and are edited with what is of all of their name and type. */
  editedAlong: string[]
  removedRecords: string[]
  /** Each rrset that becomes another one, comments too. */
  rrsets: RrsetStep[]
  /** Records that lose their marks, before they are given others. */
  unmarked: string[]
  marks: (typeof dnsRecordMarks.$inferInsert)[]
  /** What would change though it is locked. */
  locked: WantedRrset[]
}

/** What has to be done so that the rrsets are as wanted. */
export function stepsOf(of: {
  zone: ZoneRow
  existing: ReadonlyMap<string, Rrset>
  wanted: readonly WantedRrset[]
  source: RecordSource
  now: number
}): Steps {
  const steps: Steps = {
    changes: [],
    touched: [],
    newRrsets: [],
    changedRrsets: [],
    removedRrsets: [],
    inserts: [],
    updates: [],
    editedAlong: [],
    removedRecords: [],
    rrsets: [],
    unmarked: [],
    marks: [],
    locked: [],
  }
  for (const wanted of of.wanted) rrsetSteps(steps, of, wanted, of.existing.get(rrsetKey(wanted)))
  return steps
}

function rrsetSteps(
  steps: Steps,
  { zone, source, now }: { zone: ZoneRow; source: RecordSource; now: number },
  wanted: WantedRrset,
  existing: Rrset | undefined,
): void {
  if (wanted.values.length === 0) {
    if (!existing) return
    if (existing.row.locked && !wanted.unlocks) steps.locked.push(wanted)
    steps.removedRrsets.push(existing.row.id)
    for (const record of existing.records) removed(steps, existing.row, record)
    steps.rrsets.push({ name: wanted.name, type: wanted.type, before: existing, after: null })
    return
  }
  const options = wanted.options === undefined ? (existing?.row.options ?? null) : wanted.options
  const members = membersAfter(wanted, existing?.row ?? wanted.carried)
  const row: RrsetRow = existing?.row ?? {
    id: newId('rrset'),
    zoneId: zone.id,
    name: wanted.name,
    type: wanted.type,
    ttl: wanted.ttl,
    source,
    options,
    ...members,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
  const otherTerms = row.ttl !== wanted.ttl || (row.options !== options && canonicalJson(row.options) !== canonicalJson(options))
  const whole = !existing || otherTerms || !sameMembers(row, members)
  const changedAsWhole: RrsetRow = { ...row, ttl: wanted.ttl, options, ...members }
  const before = steps.changes.length
  const marks = marksOf(members)
  const otherMarks = existing !== undefined && !isDeepStrictEqual(marks, marksOf(row))
  const marked = (recordId: string) =>
    steps.marks.push(...marks.map(mark => ({ workspaceId: zone.workspaceId, zoneId: zone.id, recordId, mark })))

  const kept = new Map(existing?.records.map(record => [record.rdataHash, record]) ?? [])
  const byId = new Map(existing?.records.map(record => [record.id, record]) ?? [])
  const claimed = new Set(wanted.values.map(value => value.keep?.id))
  const taken = new Set<string>()
  const records: RecordRow[] = []
  const place = (value: WantedRrset['values'][number]): RecordRow | undefined => {
    const named = value.keep && byId.get(value.keep.id)
    const same = kept.get(value.hash)
    return named ?? (same && !claimed.has(same.id) ? same : undefined)
  }
  for (const value of wanted.values) {
    const old = place(value)
    const written = {
      content: value.content,
      contentKey: value.contentKey,
      target: value.target,
      rdata: value.rdata,
      rdataHash: value.hash,
    }
    if (!old) {
      const record: RecordRow = {
        id: value.keep?.id ?? newId('rec'),
        rrsetId: row.id,
        workspaceId: zone.workspaceId,
        zoneId: zone.id,
        name: wanted.name,
        nameReversed: reversedName(wanted.name),
        type: wanted.type,
        source,
        ...written,
        version: (value.keep?.version ?? 0) + 1,
        createdAt: value.keep?.createdAt ?? now,
        updatedAt: now,
      }
      steps.inserts.push(record)
      records.push(record)
      marked(record.id)
      steps.changes.push(told('created', record, null, form(changedAsWhole, value.content)))
      continue
    }
    taken.add(old.id)
    if (otherMarks) {
      steps.unmarked.push(old.id)
      marked(old.id)
    }
    const otherValue = old.content !== value.content
    const edited: RecordRow =
      otherValue || whole ? { ...old, ...(otherValue && written), version: old.version + 1, updatedAt: now } : old
    records.push(edited)
    if (!otherValue && !whole) continue
    if (otherValue) steps.updates.push(edited)
    else steps.editedAlong.push(old.id)
    if (otherValue || otherTerms)
      steps.changes.push(told('updated', old, form(row, old.content), form(changedAsWhole, value.content)))
  }
  for (const record of existing?.records ?? []) if (!taken.has(record.id)) removed(steps, row, record)

  const isOther = whole || steps.changes.length > before
  if (!existing) steps.newRrsets.push(row)
  else if (isOther) steps.changedRrsets.push({ ...changedAsWhole, version: row.version + 1, updatedAt: now })
  if (isOther && existing?.row.locked && !wanted.unlocks) steps.locked.push(wanted)
  if (isOther)
    steps.rrsets.push({
      name: wanted.name,
      type: wanted.type,
      before: existing ?? null,
      after: { row: changedAsWhole, records: records.sort((a, b) => (a.id < b.id ? -1 : 1)) },
    })
  if (steps.changes.length > before) steps.touched.push({ name: wanted.name, type: wanted.type, pointer: wanted.pointer })
}

function removed(steps: Steps, rrset: RrsetRow, record: RecordRow): void {
  steps.removedRecords.push(record.id)
  steps.changes.push(told('deleted', record, form(rrset, record.content), null))
}

const form = ({ ttl, options }: { ttl: number; options: RrsetOptions | null }, content: string): RecordForm => ({
  ttl,
  content,
  ...(options && { options }),
})

const told = (
  action: RecordChange['action'],
  record: RecordRow,
  before: RecordForm | null,
  after: RecordForm | null,
): RecordChange => ({
  action,
  recordId: record.id,
  type: record.type,
  name: record.name,
  before,
  after,
})
