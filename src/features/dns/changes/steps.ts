import { isDeepStrictEqual } from 'node:util'
import { canonicalJson } from '../../../core/canonical-json'
import { newId } from '../../../core/ids'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import type { RecordChange, RecordState } from './changed-event'
import type { RrsetStep } from '../history/record-changeset'
import type { RrsetOptions } from '../providers/provider'
import { marksOf, metadataAfter, sameMetadata } from '../records/rrset-metadata'
import type { WantedRrset } from './rrset-rules'
import type { dnsRecordMarks, RecordSource } from '../records/tables'
import { rrsetKey, reversedName } from '../zones/names'
import { type RecordRow, type Rrset, type RrsetRow } from '../records/rows'
import { type ZoneRow } from '../zones/rows'

/** The writes of a change, and the record changes to report. */
export interface Steps {
  changes: RecordChange[]
  touched: { name: string; type: string; pointer: string }[]
  newRrsets: RrsetRow[]
  changedRrsets: RrsetRow[]
  removedRrsets: string[]
  inserts: RecordRow[]
  /** Records whose value changes. */
  updates: RecordRow[]
  /** Records whose value stays but whose rrset changes, which increases their version. */
  bumpedRecords: string[]
  removedRecords: string[]
  /** Each rrset that changes, including metadata. */
  rrsets: RrsetStep[]
  /** Records whose marks are cleared before new ones are set. */
  clearedMarks: string[]
  marks: (typeof dnsRecordMarks.$inferInsert)[]
  /** Locked rrsets that would change. */
  locked: WantedRrset[]
  /** Rrsets with values that would change, although a dynamic IP source sets them. */
  driven: RrsetRow[]
}

/** Computes the writes that turn the existing rrsets into the wanted ones. */
export async function stepsOf(input: {
  zone: ZoneRow
  existing: ReadonlyMap<string, Rrset>
  wanted: readonly WantedRrset[]
  source: RecordSource
  drivenBy?: string
  now: number
}): Promise<Steps> {
  const steps: Steps = {
    changes: [],
    touched: [],
    newRrsets: [],
    changedRrsets: [],
    removedRrsets: [],
    inserts: [],
    updates: [],
    bumpedRecords: [],
    removedRecords: [],
    rrsets: [],
    clearedMarks: [],
    marks: [],
    locked: [],
    driven: [],
  }
  for (const wanted of input.wanted) {
    rrsetSteps(steps, input, wanted, input.existing.get(rrsetKey(wanted)))
    if (isTurnOver()) await yieldToEventLoop()
  }
  return steps
}

function rrsetSteps(
  steps: Steps,
  { zone, source, drivenBy, now }: { zone: ZoneRow; source: RecordSource; drivenBy?: string; now: number },
  wanted: WantedRrset,
  existing: Rrset | undefined,
): void {
  if (wanted.values.length === 0) {
    if (!existing) return
    if (isDrivenByOther(existing, drivenBy)) steps.driven.push(existing.row)
    if (existing.row.locked && !wanted.unlocks) steps.locked.push(wanted)
    steps.removedRrsets.push(existing.row.id)
    for (const record of existing.records) removeRecord(steps, existing.row, record)
    steps.rrsets.push({ name: wanted.name, type: wanted.type, before: existing, after: null })
    return
  }
  const options = wanted.options === undefined ? (existing?.row.options ?? null) : wanted.options
  const metadata = metadataAfter(wanted, existing?.row ?? wanted.carried)
  const row: RrsetRow = existing?.row ?? {
    id: newId('rrset'),
    zoneId: zone.id,
    name: wanted.name,
    type: wanted.type,
    ttl: wanted.ttl,
    source,
    drivenBy: drivenBy ?? null,
    options,
    ...metadata,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
  const termsChanged =
    row.ttl !== wanted.ttl || (row.options !== options && canonicalJson(row.options) !== canonicalJson(options))
  const rrsetChanged = !existing || termsChanged || !sameMetadata(row, metadata)
  const nextRow: RrsetRow = { ...row, ttl: wanted.ttl, options, ...metadata }
  const before = steps.changes.length
  const marks = marksOf(metadata)
  const marksChanged = existing !== undefined && !isDeepStrictEqual(marks, marksOf(row))
  const addMarks = (recordId: string) =>
    steps.marks.push(...marks.map(mark => ({ workspaceId: zone.workspaceId, zoneId: zone.id, recordId, mark })))

  const byHash = new Map(existing?.records.map(record => [record.rdataHash, record]) ?? [])
  const byId = new Map(existing?.records.map(record => [record.id, record]) ?? [])
  const claimed = new Set(wanted.values.map(value => value.keep?.id))
  const reused = new Set<string>()
  const records: RecordRow[] = []
  const existingFor = (value: WantedRrset['values'][number]): RecordRow | undefined => {
    const named = value.keep && byId.get(value.keep.id)
    const same = byHash.get(value.hash)
    return named ?? (same && !claimed.has(same.id) ? same : undefined)
  }
  for (const value of wanted.values) {
    const old = existingFor(value)
    const columns = {
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
        ...columns,
        version: (value.keep?.version ?? 0) + 1,
        createdAt: value.keep?.createdAt ?? now,
        updatedAt: now,
      }
      steps.inserts.push(record)
      records.push(record)
      addMarks(record.id)
      steps.changes.push(recordChange('created', record, null, stateOf(nextRow, value.content)))
      continue
    }
    reused.add(old.id)
    if (marksChanged) {
      steps.clearedMarks.push(old.id)
      addMarks(old.id)
    }
    const valueChanged = old.content !== value.content
    const updated: RecordRow =
      valueChanged || rrsetChanged ? { ...old, ...(valueChanged && columns), version: old.version + 1, updatedAt: now } : old
    records.push(updated)
    if (!valueChanged && !rrsetChanged) continue
    if (valueChanged) steps.updates.push(updated)
    else steps.bumpedRecords.push(old.id)
    if (valueChanged || termsChanged)
      steps.changes.push(recordChange('updated', old, stateOf(row, old.content), stateOf(nextRow, value.content)))
  }
  for (const record of existing?.records ?? []) if (!reused.has(record.id)) removeRecord(steps, row, record)
  if (existing && isDrivenByOther(existing, drivenBy) && steps.changes.slice(before).some(changesContent))
    steps.driven.push(existing.row)

  const hasChanged = rrsetChanged || steps.changes.length > before
  if (!existing) steps.newRrsets.push(row)
  else if (hasChanged) steps.changedRrsets.push({ ...nextRow, version: row.version + 1, updatedAt: now })
  if (hasChanged && existing?.row.locked && !wanted.unlocks) steps.locked.push(wanted)
  if (hasChanged)
    steps.rrsets.push({
      name: wanted.name,
      type: wanted.type,
      before: existing ?? null,
      after: { row: nextRow, records: records.sort((a, b) => (a.id < b.id ? -1 : 1)) },
    })
  if (steps.changes.length > before) steps.touched.push({ name: wanted.name, type: wanted.type, pointer: wanted.pointer })
}

const isDrivenByOther = ({ row }: Rrset, drivenBy: string | undefined): boolean =>
  row.drivenBy !== null && row.drivenBy !== drivenBy

const changesContent = ({ before, after }: RecordChange): boolean => before?.content !== after?.content

function removeRecord(steps: Steps, rrset: RrsetRow, record: RecordRow): void {
  steps.removedRecords.push(record.id)
  steps.changes.push(recordChange('deleted', record, stateOf(rrset, record.content), null))
}

const stateOf = ({ ttl, options }: { ttl: number; options: RrsetOptions | null }, content: string): RecordState => ({
  ttl,
  content,
  ...(options && { options }),
})

const recordChange = (
  action: RecordChange['action'],
  record: RecordRow,
  before: RecordState | null,
  after: RecordState | null,
): RecordChange => ({
  action,
  recordId: record.id,
  type: record.type,
  name: record.name,
  before,
  after,
})
