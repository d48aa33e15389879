import { and, eq } from 'drizzle-orm'
import { target } from '../../core/audit'
import { change, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { reaches } from '../../core/narrowing'
import { invalid, notFound, type FieldProblem } from '../../core/problem'
import { relationTo, type Relations } from '../../core/relation'
import { originOfCaller } from './changed-event'
import { listZoneRecords } from './record-listing'
import type { DnsRecordInput, DnsRecordPatch, DnsRecordView } from './record-shapes'
import { typeOf, valueOf, valueOfRdata, type RecordValue } from './record-values'
import { optionsOf, optionsPatched } from './rrset-options'
import { wantedMembers } from './rrset-members'
import { toldRecord } from './told-record'
import { broken, type WantedRrset, type WantedValue } from './rrset-rules'
import { ruleKept } from './rule-problems'
import { dnsFoundRecords } from './sync/tables'
import { dnsRecords } from './tables'
import { foundViews, recordViewOf, recordViews, zoneView, type FoundRow } from './views'
import { changeZone } from './zone-changes'
import { rrsetKey, rrsetsAt, zoneHeld, type RecordRow, type Rrset, type ZoneRow } from './zone-rows'
import { fqdnOf, originOf, recordNameOf } from './zone-names'
import { sourceOf, zoneListing, zoneOf, zoneTarget } from './zones'

/** @throws Problem 404 */
export async function listRecordsOf(ctx: Ctx, zoneId: string, query: Record<string, unknown>) {
  await zoneOf(ctx.hub.read, ctx, zoneId)
  return await listZoneRecords(ctx, zoneId, query)
}

/** @throws Problem 404 */
export async function getRecord(ctx: Ctx, id: string): Promise<DnsRecordView> {
  const read = ctx.hub.read
  const found = await foundOf(read, ctx, id)
  const [view] = found ? await foundViews(read, [found]) : await recordViews(read, [await recordOf(read, ctx, id)])
  if (!view) throw notFound('record')
  return view
}

/** A record that is at a provider alone. */
async function foundOf(read: Reader, ctx: Ctx, id: string): Promise<FoundRow | undefined> {
  const [row] = await read
    .select()
    .from(dnsFoundRecords)
    .where(and(eq(dnsFoundRecords.id, id), eq(dnsFoundRecords.workspaceId, ctx.workspaceId)))
  return row && reaches(ctx, row.zoneId) ? row : undefined
}

/** Makes a record. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function createRecord(ctx: Ctx, zoneId: string, input: DnsRecordInput): Promise<DnsRecordView> {
  return await change(ctx, 'dns.record.create', tx => created(tx, ctx, zoneId, input))
}

/** The change that makes a record. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function created(tx: Tx, ctx: Ctx, zoneId: string, input: DnsRecordInput): Promise<Changed<DnsRecordView>> {
  const type = ruleKept('#/type', () => typeOf(input.type))
  const zone = await zoneHeld(tx, ctx, zoneId)
  const name = ruleKept('#/name', () => recordNameOf(input.name, zone.name))
  const existing = (await rrsetsAt(tx, zone.id, [name])).get(rrsetKey({ name, type }))
  if (existing && input.ttl !== undefined && input.ttl !== existing.row.ttl)
    throw invalid([
      broken(
        '#/ttl',
        `must be ${existing.row.ttl}, as of the other ${type} of ${fqdnOf(name, zone.name)}: editing one of them changes the TTL of all`,
        'RFC 2181 5.2',
      ),
    ])
  const value = readValue(type, input, zone)
  const wanted = {
    name,
    type,
    ttl: input.ttl ?? existing?.row.ttl ?? zone.defaultTtl,
    ...(input.options !== undefined && { options: optionsOf(input.options) }),
    ...wantedMembers(input),
    values: [...valuesOf(existing), { ...value, pointer: pointerOf(input) }],
    pointer: '#',
  }
  const made = await changed(tx, ctx, zone, [wanted])
  const { row, records } = (await rrsetsAt(tx, zone.id, [name])).get(rrsetKey(wanted))!
  const view = await recordViewOf(
    tx,
    records.find(one => one.rdataHash === value.hash)!,
    row,
    zone,
  )
  return {
    result: view,
    target: targetsOf(view),
    after: toldRecord(view),
    events: made.events,
    wakes: made.wakes,
    jobs: made.jobs,
  }
}

/**
 * Edits a record; its id stays. TTL, comment and options are those of all records of its name and type.
 * @throws Problem 404, 412, 422
 */
export async function updateRecord(ctx: Ctx, id: string, patch: DnsRecordPatch): Promise<DnsRecordView> {
  return await change(ctx, 'dns.record.update', tx => updated(tx, ctx, id, patch))
}

/** The change that edits one. @throws Problem 404, 412, 422 */
export async function updated(tx: Tx, ctx: Ctx, id: string, patch: DnsRecordPatch): Promise<Changed<DnsRecordView>> {
  const { zone, record, rrset } = await held(tx, ctx, id)
  requireMatch(ctx, record)
  const before = toldRecord(await recordViewOf(tx, record, rrset.row, zone))
  const name = patch.name === undefined ? record.name : ruleKept('#/name', () => recordNameOf(patch.name!, zone.name))
  const given = patch.content !== undefined || patch.fields !== undefined
  const value: RecordValue = given ? readValue(record.type, patch, zone) : valueOfRdata(record.type, record.rdata)
  const own: WantedValue = { ...value, keep: record, pointer: pointerOf(patch) }
  const others = valuesOf(rrset).filter(one => one.hash !== record.rdataHash)
  const wanted =
    name === record.name ? [edited(rrset, patch, [...others, own])] : await movedTo(tx, zone, name, rrset, others, own, patch)
  const made = await changed(tx, ctx, zone, wanted)
  const after = (await rrsetsAt(tx, zone.id, [name])).get(rrsetKey({ name, type: record.type }))!
  const view = await recordViewOf(
    tx,
    after.records.find(one => one.id === id)!,
    after.row,
    zone,
  )
  const { events, wakes, jobs, unchanged } = made
  return { result: view, target: targetsOf(view), before, after: toldRecord(view), events, wakes, jobs, unchanged }
}

/** @throws Problem 404, 412, 422 for the last NS of the apex */
export async function deleteRecord(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'dns.record.delete', async tx => {
    const { zone, record, rrset } = await held(tx, ctx, id)
    requireMatch(ctx, record)
    const before = toldRecord(await recordViewOf(tx, record, rrset.row, zone))
    const others = valuesOf(rrset).filter(one => one.hash !== record.rdataHash)
    const made = await changed(tx, ctx, zone, [edited(rrset, {}, others)])
    return { result: undefined, target: targetsOf(before), before, events: made.events, wakes: made.wakes, jobs: made.jobs }
  })
}

/** What can be sent along with a record. */
export const recordRelations: Relations = {
  zone: relationTo(zoneListing, {
    idOf: (record: DnsRecordView) => record.zone_id,
    permission: 'dns.read',
    view: (ctx, row) => zoneView(ctx.hub.read, row),
  }),
}

const changed = (tx: Tx, ctx: Ctx, zone: ZoneRow, wanted: WantedRrset[]) =>
  changeZone(tx, ctx, zone, wanted, { source: sourceOf(ctx), origin: originOfCaller(ctx) })

/** An rrset with other values, and with what of a patch is of all of them. */
const edited = ({ row }: Rrset, patch: DnsRecordPatch, values: WantedValue[]): WantedRrset => ({
  name: row.name,
  type: row.type,
  ttl: patch.ttl ?? row.ttl,
  options: patch.options === undefined ? row.options : optionsPatched(row.options, patch.options),
  ...wantedMembers(patch),
  ...(patch.locked !== undefined && { unlocks: true }),
  values,
  pointer: '#',
})

/** A record that gets another name leaves one rrset for another. */
async function movedTo(
  tx: Tx,
  zone: ZoneRow,
  name: string,
  from: Rrset,
  others: WantedValue[],
  own: WantedValue,
  patch: DnsRecordPatch,
): Promise<WantedRrset[]> {
  const there = (await rrsetsAt(tx, zone.id, [name])).get(rrsetKey({ name, type: from.row.type }))
  const to = there ?? { row: { ...from.row, name }, records: [] }
  const left = { ...edited(from, {}, others), unlocks: patch.locked !== undefined }
  return [left, { ...edited(to, patch, [...valuesOf(there), own]), carried: from.row }]
}

const valuesOf = (rrset: Rrset | undefined): WantedValue[] =>
  (rrset?.records ?? []).map(record => ({
    rdata: record.rdata,
    hash: record.rdataHash,
    content: record.content,
    contentKey: record.contentKey,
    target: record.target,
    pointer: '#',
  }))

type Given = { content?: string; fields?: unknown }

const pointerOf = (given: Given, pointer = '#'): string =>
  given.content !== undefined ? `${pointer}/content` : given.fields !== undefined ? `${pointer}/fields` : pointer

/** The value of a record in a request, which has it in one of two forms. @throws Problem 422 */
export function readValue(type: string, given: Given, zone: { name: string }, pointer = '#'): RecordValue {
  const problem = (detail: string): FieldProblem => ({ pointer: `${pointer}/content`, code: 'required', detail })
  if (given.content === undefined && given.fields === undefined)
    throw invalid([problem('is required: the value as text, or as `fields`.')])
  if (given.content !== undefined && given.fields !== undefined)
    throw invalid([{ ...problem('does not go with `fields`: give the value once.'), code: 'not_allowed' }])
  return ruleKept(pointerOf(given, pointer), () => valueOf(type, given, originOf(zone.name)))
}

const targetsOf = (view: DnsRecordView) => [
  target('record', { id: view.id, name: `${view.fqdn} ${view.type}` }),
  zoneTarget({ id: view.zone_id, name: view.zone }),
]

/** @throws Problem 404 */
export async function recordOf(read: Reader, ctx: Ctx, id: string): Promise<RecordRow> {
  const [row] = await read
    .select()
    .from(dnsRecords)
    .where(and(eq(dnsRecords.id, id), eq(dnsRecords.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.zoneId)) throw notFound('record')
  return row
}

/** A record with its zone held: what was read before the turn came may be gone. */
async function held(tx: Tx, ctx: Ctx, id: string): Promise<{ zone: ZoneRow; record: RecordRow; rrset: Rrset }> {
  const zone = await zoneHeld(tx, ctx, (await recordOf(tx, ctx, id)).zoneId)
  const record = await recordOf(tx, ctx, id)
  const rrset = (await rrsetsAt(tx, zone.id, [record.name])).get(rrsetKey(record))!
  return { zone, record, rrset }
}
