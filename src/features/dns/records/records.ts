import { and, eq, sql } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { prepared } from '../../../core/db/prepared'
import type { Reader, Tx } from '../../../core/db/transaction'
import { requireMatch } from '../../../core/if-match'
import { canAccess } from '../../../core/resource-access'
import { invalid, notFound, type FieldProblem } from '../../../core/problem'
import { relationTo, type Relations } from '../../../core/relation'
import { callerOrigin } from '../changes/changed-event'
import { listZoneRecords } from './listing'
import type { DnsRecordInput, DnsRecordPatch, DnsRecordView } from './shapes'
import { storedValue, typeOf, valueOf, valueOfRdata, type RecordValue } from './values'
import { optionsOf, optionsPatched, wantedMetadata } from './rrset-metadata'
import { ruleViolation, type WantedRrset, type WantedValue } from '../changes/rrset-rules'
import { parseBoth, parseField } from './parse-field'
import { dnsFoundRecords } from '../targets/tables'
import { dnsRecords } from './tables'
import { keptRecordViews } from './kept-views'
import { unmanagedViews, recordViewOf, type FoundRow } from './views'
import { zoneView } from '../zones/views'
import { changeZone } from '../changes/change-zone'
import { rrsetKey, fqdnOf, originOf, recordNameOf } from '../zones/names'
import { rrsetsAt, type RecordRow, type Rrset } from './rows'
import { lockZone, type ZoneRow, zoneOf } from '../zones/rows'
import { sourceOf, zoneListing, zoneTarget } from '../zones/zones'
import { findRow } from '../../../core/rows'
import { rowsOf } from '../../../registry'
import { sha256Hex } from '../../../core/crypto'

/** @throws Problem 404 */
export async function listRecordsOf(ctx: Ctx, zoneId: string, query: Record<string, unknown>) {
  await zoneOf(ctx.hub.read, ctx, zoneId)
  return await listZoneRecords(ctx, zoneId, query)
}

/** @throws Problem 404 */
export async function getRecord(ctx: Ctx, id: string): Promise<DnsRecordView> {
  const read = ctx.hub.read
  const row = await rowOf(read, id)
  const isOwn = row?.workspaceId === ctx.workspaceId && canAccess(ctx, row.zoneId)
  const found = isOwn ? undefined : await unmanagedOf(read, ctx, id)
  const [view] = isOwn
    ? await keptRecordViews(read, [row], async () => new Map([[id, row]]))
    : found
      ? await unmanagedViews(read, [found])
      : []
  if (!view) throw notFound('record')
  return view
}

async function rowOf(read: Reader, id: string): Promise<RecordRow | undefined> {
  const find = prepared(read, 'record', handle =>
    handle
      .select()
      .from(dnsRecords)
      .where(eq(dnsRecords.id, sql.placeholder('id'))),
  )
  return (await find.execute({ id }))[0]
}

/** Finds an unmanaged record, which exists only at a provider. */
async function unmanagedOf(read: Reader, ctx: Ctx, id: string): Promise<FoundRow | undefined> {
  const [row] = await read
    .select()
    .from(dnsFoundRecords)
    .where(and(eq(dnsFoundRecords.id, id), eq(dnsFoundRecords.workspaceId, ctx.workspaceId)))
  return row && canAccess(ctx, row.zoneId) ? row : undefined
}

/** Creates a record. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function createRecord(ctx: Ctx, zoneId: string, input: DnsRecordInput): Promise<DnsRecordView> {
  return await change(ctx, 'dns.record.create', tx => recordCreation(tx, ctx, zoneId, input))
}

/** The change that creates a record. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function recordCreation(
  tx: Tx,
  ctx: Ctx,
  zoneId: string,
  input: DnsRecordInput,
): Promise<ChangeResult<DnsRecordView>> {
  const type = parseField('#/type', () => typeOf(input.type))
  const zone = await lockZone(tx, ctx, zoneId)
  const [name, value] = parseBoth(
    () => parseField('#/name', () => recordNameOf(input.name, zone.name)),
    () => readValue(type, input, zone),
  )
  const atName = await rrsetsAt(tx, zone.id, [{ name }])
  const existing = atName.get(rrsetKey({ name, type }))
  if (existing && input.ttl !== undefined && input.ttl !== existing.row.ttl)
    throw invalid([
      ruleViolation(
        '#/ttl',
        `must be ${existing.row.ttl}, the TTL of the other ${type} records of ${fqdnOf(name, zone.name)}. Update one of them to change the TTL of all`,
        'RFC 2181 5.2',
      ),
    ])
  const wanted = {
    name,
    type,
    ttl: input.ttl ?? existing?.row.ttl ?? zone.defaultTtl,
    ...(input.options !== undefined && { options: optionsOf(input.options) }),
    ...wantedMetadata(input),
    values: [...valuesOf(existing), { ...value, pointer: pointerOf(input) }],
    pointer: '#',
  }
  const result = await applyChange(tx, ctx, zone, [wanted], atName)
  const { row, records } = result.rrsets[0]!.after!
  const created = records.find(one => one.rdataHash === value.hash)!
  const view = await recordViewOf(tx, created, row, zone)
  return {
    result: view,
    target: targetsOf(view),
    after: auditRecord(view),
    ...result.effects,
  }
}

/**
 * Updates a record. Its id stays the same. TTL, metadata and options apply to all records of its name and type.
 * @throws Problem 404, 412, 422
 */
export async function updateRecord(ctx: Ctx, id: string, patch: DnsRecordPatch): Promise<DnsRecordView> {
  return await change(ctx, 'dns.record.update', tx => recordUpdate(tx, ctx, id, patch))
}

/** The change that updates a record. @throws Problem 404, 412, 422 */
export async function recordUpdate(tx: Tx, ctx: Ctx, id: string, patch: DnsRecordPatch): Promise<ChangeResult<DnsRecordView>> {
  const { zone, record, rrset, atName } = await lockRecord(tx, ctx, id)
  requireMatch(ctx, record)
  const before = auditRecord(await recordViewOf(tx, record, rrset.row, zone))
  const hasValue = patch.content !== undefined || patch.fields !== undefined
  const [name, value] = parseBoth(
    () => (patch.name === undefined ? record.name : parseField('#/name', () => recordNameOf(patch.name!, zone.name))),
    () => (hasValue ? readValue(record.type, patch, zone) : valueOfRdata(record.type, record.rdata)),
  )
  const own: WantedValue = { ...value, keep: record, pointer: pointerOf(patch) }
  const others = valuesOf(rrset).filter(one => one.hash !== record.rdataHash)
  const isMoved = name !== record.name
  const existing = isMoved ? new Map([...atName, ...(await rrsetsAt(tx, zone.id, [{ name }]))]) : atName
  const wanted = isMoved ? movedRrsets(existing, name, rrset, others, own, patch) : [withValues(rrset, patch, [...others, own])]
  const result = await applyChange(tx, ctx, zone, wanted, existing)
  const after = result.rrsets.find(one => one.name === name)?.after ?? rrset
  const updated = after.records.find(one => one.id === id)!
  const view = await recordViewOf(tx, updated, after.row, zone)
  const { effects, unchanged } = result
  return { result: view, target: targetsOf(view), before, after: auditRecord(view), ...effects, unchanged }
}

/** @throws Problem 404, 412, 422 for the last NS of the apex */
export async function deleteRecord(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'dns.record.delete', async tx => {
    const { zone, record, rrset, atName } = await lockRecord(tx, ctx, id)
    requireMatch(ctx, record)
    const before = auditRecord(await recordViewOf(tx, record, rrset.row, zone))
    const others = valuesOf(rrset).filter(one => one.hash !== record.rdataHash)
    const result = await applyChange(tx, ctx, zone, [withValues(rrset, {}, others)], atName)
    return { result: undefined, target: targetsOf(before), before, ...result.effects }
  })
}

/** Relations that can be expanded in responses. */
export const recordRelations: Relations = {
  zone: relationTo(zoneListing, {
    idOf: (record: DnsRecordView) => record.zone_id,
    permission: 'dns.read',
    view: (ctx, row) => zoneView(ctx.hub.read, row),
  }),
}

const applyChange = (tx: Tx, ctx: Ctx, zone: ZoneRow, wanted: WantedRrset[], existing: ReadonlyMap<string, Rrset>) =>
  changeZone(tx, ctx, zone, wanted, { source: sourceOf(ctx), origin: callerOrigin(ctx), existing })

/** An rrset with new values, and with the fields of a patch that apply to the whole rrset. */
const withValues = ({ row }: Rrset, patch: DnsRecordPatch, values: WantedValue[]): WantedRrset => ({
  name: row.name,
  type: row.type,
  ttl: patch.ttl ?? row.ttl,
  options: patch.options === undefined ? row.options : optionsPatched(row.options, patch.options),
  ...wantedMetadata(patch),
  ...(patch.locked !== undefined && { unlocks: true }),
  values,
  pointer: '#',
})

/** Renaming a record moves it from one rrset to another. */
function movedRrsets(
  existing: ReadonlyMap<string, Rrset>,
  name: string,
  from: Rrset,
  others: WantedValue[],
  own: WantedValue,
  patch: DnsRecordPatch,
): WantedRrset[] {
  const destination = existing.get(rrsetKey({ name, type: from.row.type }))
  const to = destination ?? { row: { ...from.row, name }, records: [] }
  const source = { ...withValues(from, {}, others), unlocks: patch.locked !== undefined }
  return [source, { ...withValues(to, patch, [...valuesOf(destination), own]), carried: from.row }]
}

const valuesOf = (rrset: Rrset | undefined): WantedValue[] =>
  (rrset?.records ?? []).map(record => ({ ...storedValue(record), pointer: '#' }))

type ValueInput = { content?: string; fields?: unknown }

const pointerOf = (input: ValueInput, pointer = '#'): string =>
  input.content !== undefined ? `${pointer}/content` : input.fields !== undefined ? `${pointer}/fields` : pointer

/** Parses the value of a record in a request, from `content` or `fields`. @throws Problem 422 */
export function readValue(type: string, input: ValueInput, zone: { name: string }, pointer = '#'): RecordValue {
  const problem = (detail: string): FieldProblem => ({ pointer: `${pointer}/content`, code: 'required', detail })
  if (input.content === undefined && input.fields === undefined)
    throw invalid([problem('is required, unless you pass `fields`.')])
  if (input.content !== undefined && input.fields !== undefined)
    throw invalid([{ ...problem('can’t be combined with `fields`.'), code: 'not_allowed' }])
  return parseField(pointerOf(input, pointer), () => valueOf(type, input, originOf(zone.name)))
}

const targetsOf = (view: DnsRecordView) => [
  target('record', { id: view.id, name: `${view.fqdn} ${view.type}` }),
  zoneTarget({ id: view.zone_id, name: view.zone }),
]

const recordRows = rowsOf('record', dnsRecords, { name: 'record', accessTo: row => row.zoneId })

/** @throws Problem 404 */
export const recordOf = (read: Reader, ctx: Ctx, id: string): Promise<RecordRow> => findRow(read, ctx, recordRows, id)

interface LockedRecord {
  zone: ZoneRow
  record: RecordRow
  /** The rrset of the record, which is one of those at its name. */
  rrset: Rrset
  atName: ReadonlyMap<string, Rrset>
}

/** Locks the zone of a record, then reads the record again, since it may have changed while waiting for the lock. */
async function lockRecord(tx: Tx, ctx: Ctx, id: string): Promise<LockedRecord> {
  const zone = await lockZone(tx, ctx, (await recordOf(tx, ctx, id)).zoneId)
  const record = await recordOf(tx, ctx, id)
  const atName = await rrsetsAt(tx, zone.id, [record])
  return { zone, record, rrset: atName.get(rrsetKey(record))!, atName }
}

// Longer than any DKIM key. Larger values would bloat the audit log, which has each value two or three times per edit.
const maxAuditedLength = 2048
const previewLength = 512

/** A record as written to the audit log. Long values are truncated, with their length and hash. */
function auditRecord(view: DnsRecordView): DnsRecordView {
  if (view.content.length <= maxAuditedLength) return view
  const content = `${view.content.slice(0, previewLength)}… (${view.content.length} characters, SHA-256 ${sha256Hex(view.content)})`
  return { ...view, content, fields: {}, value: null }
}
