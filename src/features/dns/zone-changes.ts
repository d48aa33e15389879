import { and, eq, inArray, sql } from 'drizzle-orm'
import { changedEvent, type ChangeOrigin, type RecordChange } from './changed-event'
import { nextNumber, type EventDraft } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { invalid, notFound, Problem, type FieldProblem } from '../../core/problem'
import { changesCounter, zonesTopic } from './publish'
import { broken, rrsetProblems, type WantedRrset } from './rrset-rules'
import { dnsRecords, dnsRrsets, dnsZoneChanges, dnsZones, type RecordSource } from './tables'
import { hasNameServers, zoneProblems } from './zone-rules'
import { reversedName } from './zone-names'

export type ZoneRow = typeof dnsZones.$inferSelect
export type RrsetRow = typeof dnsRrsets.$inferSelect
export type RecordRow = typeof dnsRecords.$inferSelect

/** An rrset with its records in the order of their ids. */
export interface Rrset {
  row: RrsetRow
  records: RecordRow[]
}

/** The zone of the caller's workspace, held until the transaction ends: changes of a zone take turns. @throws Problem 404 */
export async function zoneHeld(tx: Tx, ctx: Ctx, id: string): Promise<ZoneRow> {
  const [row] = await locking(
    tx
      .select()
      .from(dnsZones)
      .where(and(eq(dnsZones.id, id), eq(dnsZones.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('zone')
  return row
}

/** The rrsets of these names, by {@link rrsetKey}. */
export async function rrsetsAt(tx: Tx, zoneId: string, names: readonly string[]): Promise<Map<string, Rrset>> {
  const found = new Map<string, Rrset>()
  const distinct = [...new Set(names)]
  for (let at = 0; at < distinct.length; at += rowsAtOnce) {
    const some = distinct.slice(at, at + rowsAtOnce)
    const rows = await tx
      .select()
      .from(dnsRrsets)
      .where(and(eq(dnsRrsets.zoneId, zoneId), inArray(dnsRrsets.name, some)))
    const byId = new Map(rows.map(row => [row.id, { row, records: [] } as Rrset]))
    const records = await tx
      .select()
      .from(dnsRecords)
      .where(and(eq(dnsRecords.zoneId, zoneId), inArray(dnsRecords.name, some)))
    // Sorted here: SQLite would walk the whole zone in the order of ids to spare itself the sorting.
    for (const record of records.sort((a, b) => (a.id < b.id ? -1 : 1))) byId.get(record.rrsetId)?.records.push(record)
    for (const one of byId.values()) found.set(rrsetKey(one.row), one)
  }
  return found
}

export const rrsetKey = (of: { name: string; type: string }): string => `${of.name} ${of.type}`

const rowsAtOnce = 500

export interface ZoneChanged {
  zone: ZoneRow
  changes: RecordChange[]
  events: EventDraft[]
  wakes: string[]
}

/** Members of the zone that change along with its records. */
export type ZoneEdit = Partial<
  Pick<
    ZoneRow,
    | 'status'
    | 'defaultTtl'
    | 'soaMname'
    | 'soaRname'
    | 'soaTtl'
    | 'soaRefresh'
    | 'soaRetry'
    | 'soaExpire'
    | 'soaMinimum'
    | 'serial'
  >
>

/**
 * Makes rrsets of a zone as they are wanted, in the transaction of the change: holds the result to the rules, moves the serial,
 * and tells of it. What is as it was stays as it was, with its ids; where all of it is, the serial stays too.
 * @param zone as of {@link zoneHeld}
 * @param edit members of the zone to set as well, whatever becomes of the records
 * @throws Problem 422 naming member, rule and document; 403 `plan_limit_reached`
 */
export async function changeZone(
  tx: Tx,
  ctx: Ctx,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: { source: RecordSource; origin: ChangeOrigin; edit?: ZoneEdit },
): Promise<ZoneChanged> {
  refuse(wanted.flatMap(rrsetProblems))
  const now = ctx.hub.clock.now()
  const existing = await rrsetsAt(
    tx,
    zone.id,
    wanted.map(one => one.name),
  )
  const steps = stepsOf({ ...by, zone, existing, wanted, now })
  if (steps.changes.length === 0 && !by.edit) return { zone, changes: [], events: [], wakes: [] }
  const recordCount = zone.recordCount + steps.inserts.length - steps.removedRecords.length
  if (recordCount > zone.recordCount) refuseOverRecordLimit(ctx, zone, recordCount)
  await write(tx, steps, now)
  refuse(await zoneProblems(tx, zone, steps.touched))
  const lost = wanted.find(one => one.name === '@' && one.type === 'NS' && one.values.length === 0)
  if (lost && existing.has('@ NS') && !(await hasNameServers(tx, zone)))
    refuse([broken(lost.pointer, 'must leave the zone an NS at its apex', 'RFC 1034 4.2.1')])
  const after = await moved(tx, zone, { ...by.edit, recordCount }, now)
  return {
    zone: after,
    changes: steps.changes,
    events: steps.changes.length > 0 ? [changedEvent(ctx, after, by.origin, steps.changes)] : [],
    wakes: [zonesTopic],
  }
}

/** The serial after the next change: 32 bits that go round, past 0 (RFC 1982). */
export const nextSerial = (serial: number): number => (serial >= 0xffff_ffff ? 1 : serial + 1)

async function moved(tx: Tx, zone: ZoneRow, edit: ZoneEdit & { recordCount: number }, now: number): Promise<ZoneRow> {
  const [after] = await tx
    .update(dnsZones)
    .set({ serial: nextSerial(zone.serial), ...edit, version: zone.version + 1, updatedAt: now })
    .where(eq(dnsZones.id, zone.id))
    .returning()
  await tellServers(tx, zone)
  return after!
}

/** Numbers a change of what is served, in the order of commits. */
export async function tellServers(tx: Tx, zone: { id: string; name: string }): Promise<void> {
  const number = await nextNumber(tx, changesCounter)
  await tx
    .insert(dnsZoneChanges)
    .values({ zoneId: zone.id, number, name: zone.name })
    .onConflictDoUpdate({ target: dnsZoneChanges.zoneId, set: { number } })
}

interface Steps {
  changes: RecordChange[]
  touched: { name: string; type: string; pointer: string }[]
  newRrsets: RrsetRow[]
  changedRrsets: RrsetRow[]
  removedRrsets: string[]
  inserts: RecordRow[]
  updates: RecordRow[]
  removedRecords: string[]
}

/** What has to be done so that the rrsets are as wanted. */
function stepsOf(of: {
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
    removedRecords: [],
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
    steps.removedRrsets.push(existing.row.id)
    for (const record of existing.records) removed(steps, existing.row, record)
    return
  }
  const comment = wanted.comment ?? existing?.row.comment ?? ''
  const row: RrsetRow = existing?.row ?? {
    id: newId('rrset'),
    zoneId: zone.id,
    name: wanted.name,
    type: wanted.type,
    ttl: wanted.ttl,
    source,
    comment,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
  const whole = !existing || row.ttl !== wanted.ttl || row.comment !== comment
  const before = steps.changes.length
  const changedAsWhole: RrsetRow = { ...row, ttl: wanted.ttl, comment }

  const kept = new Map(existing?.records.map(record => [record.rdataHash, record]) ?? [])
  const byId = new Map(existing?.records.map(record => [record.id, record]) ?? [])
  const taken = new Set<string>()
  const place = (value: WantedRrset['values'][number]): RecordRow | undefined => {
    const same = kept.get(value.hash)
    const named = value.keep === undefined ? undefined : byId.get(value.keep.id)
    return same ?? named
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
        source: row.source,
        ...written,
        version: (value.keep?.version ?? 0) + 1,
        createdAt: value.keep?.createdAt ?? now,
        updatedAt: now,
      }
      steps.inserts.push(record)
      steps.changes.push(told('created', record, null, { ttl: wanted.ttl, content: value.content }))
      continue
    }
    taken.add(old.id)
    const otherValue = old.content !== value.content
    if (!otherValue && !whole) continue
    steps.updates.push({ ...old, ...(otherValue ? written : {}), version: old.version + 1, updatedAt: now })
    if (otherValue || row.ttl !== wanted.ttl)
      steps.changes.push(
        told('updated', old, { ttl: row.ttl, content: old.content }, { ttl: wanted.ttl, content: value.content }),
      )
  }
  for (const record of existing?.records ?? []) if (!taken.has(record.id)) removed(steps, row, record)

  if (!existing) steps.newRrsets.push(row)
  else if (whole || steps.changes.length > before)
    steps.changedRrsets.push({ ...changedAsWhole, version: row.version + 1, updatedAt: now })
  if (steps.changes.length > before) steps.touched.push({ name: wanted.name, type: wanted.type, pointer: wanted.pointer })
}

function removed(steps: Steps, rrset: RrsetRow, record: RecordRow): void {
  steps.removedRecords.push(record.id)
  steps.changes.push(told('deleted', record, { ttl: rrset.ttl, content: record.content }, null))
}

type Form = { ttl: number; content: string } | null
const told = (action: RecordChange['action'], record: RecordRow, before: Form, after: Form): RecordChange => ({
  action,
  recordId: record.id,
  type: record.type,
  name: record.name,
  before,
  after,
})

/** Removals go first, so that a value may move from one record to another. */
async function write(tx: Tx, steps: Steps, now: number): Promise<void> {
  for (const ids of pieces(steps.removedRecords)) await tx.delete(dnsRecords).where(inArray(dnsRecords.id, ids))
  for (const ids of pieces(steps.removedRrsets)) await tx.delete(dnsRrsets).where(inArray(dnsRrsets.id, ids))
  for (const rows of pieces(steps.newRrsets)) await tx.insert(dnsRrsets).values(rows)
  for (const { id, ttl, comment, version } of steps.changedRrsets)
    await tx.update(dnsRrsets).set({ ttl, comment, version, updatedAt: now }).where(eq(dnsRrsets.id, id))
  // Two records may swap their values: none has the other's while that is written.
  for (const { id } of steps.updates.length > 1 ? steps.updates : [])
    await tx
      .update(dnsRecords)
      .set({ rdataHash: sql`${dnsRecords.id}` })
      .where(eq(dnsRecords.id, id))
  for (const { id, content, contentKey, target, rdata, rdataHash, version } of steps.updates)
    await tx
      .update(dnsRecords)
      .set({ content, contentKey, target, rdata, rdataHash, version, updatedAt: now })
      .where(eq(dnsRecords.id, id))
  for (const rows of pieces(steps.inserts)) await tx.insert(dnsRecords).values(rows)
}

function* pieces<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += rowsAtOnce) yield list.slice(at, at + rowsAtOnce)
}

const mostProblems = 20

/** @throws Problem 422 when there are any */
export function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems))
}

/** @throws Problem 403 `plan_limit_reached` */
function refuseOverRecordLimit(ctx: Ctx, zone: ZoneRow, wanted: number): void {
  const max = ctx.limits.dns_records
  if (max === null || max === undefined || wanted <= max) return
  throw new Problem('plan_limit_reached', `The plan allows ${max} records a zone; ${zone.name} has ${zone.recordCount}.`, {
    members: { limit: 'dns_records', max, used: zone.recordCount, plan: ctx.planId },
  })
}
