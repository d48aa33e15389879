import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { jobContext, systemActor } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { deleteRows } from '../../../core/db/delete-rows'
import { forIds } from '../../../core/db/id-list'
import { insertRows } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { updateRows } from '../../../core/db/update-rows'
import type { Tx } from '../../../core/db/transaction'
import { nextSerial } from '../../../dns/serial'
import type { Hub } from '../../../core/hub'
import { invalid, Problem, type FieldProblem } from '../../../core/problem'
import { flatMapInTurns } from '../../../core/time-slices'
import { resolveAlias } from '../aliases/queue'
import { changedEvent, type RecordChange } from './changed-event'
import { recordChangeset, type ChangeCause } from '../history/record-changeset'
import { zonesTopic } from '../publish/published-zones'
import { markPending } from '../targets/mark-pending'
import { lockedProblem, metadataProblems } from '../records/rrset-metadata'
import { ruleViolation, rrsetProblems, type WantedRrset } from './rrset-rules'
import { dnsRecordMarks, dnsRecords, dnsRrsets, type RecordSource } from '../records/tables'
import { dnsZones } from '../zones/tables'
import { notifyServers } from '../transfers/notify-servers'
import { hasNameServers, zoneProblems } from './zone-rules'
import { batches, rrsetsAt, type Rrset } from '../records/rows'
import { fqdnOf, rrsetKey } from '../zones/names'
import { type ZoneEdit, type ZoneRow } from '../zones/rows'
import { stepsOf, type Steps } from './steps'
import { updateModifiedFlags } from '../templates/track-modifications'

export interface ZoneChangeResult {
  zone: ZoneRow
  changes: RecordChange[]
  /** The changed rrsets, including metadata. */
  rrsets: Steps['rrsets']
  /** Events, jobs, and topics that the change of the caller must report. */
  effects: Required<Pick<ChangeResult<unknown>, 'events' | 'wakeTopics' | 'jobs'>>
  /** True if nothing changed, including metadata. */
  unchanged: boolean
}

/** Who changes a zone: a caller or a background job ({@link systemChanger}). */
export type Changer = Pick<Ctx, 'hub' | 'workspaceId' | 'actor' | 'context' | 'limits' | 'planId'>

/** The system as changer, for background jobs. @param name of the job */
export const systemChanger = (hub: Hub, zone: Pick<ZoneRow, 'workspaceId'>, name: string): Changer => ({
  hub,
  workspaceId: zone.workspaceId,
  actor: systemActor(name),
  context: jobContext,
  limits: {},
  planId: '',
})

/**
 * Writes the wanted rrsets of a zone in the caller’s transaction: validates the result, increases the serial, and returns events
 * and jobs. Unchanged records keep their ids and versions. If nothing changes, the serial stays the same.
 * @param zone from {@link lockZone}
 * @param by.edit fields of the zone to set, even if no records change
 * @param by.drivenBy the dynamic IP source that makes the change, which alone can change the values of its rrsets
 * @param by.existing the rrsets at the wanted names, if they have been read since the zone was locked
 * @throws Problem 422 naming the field, rule and RFC, or locked rrsets; 409 `record_driven`; 403 `plan_limit_reached`
 */
export async function changeZone(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: ChangeCause & { source: RecordSource; drivenBy?: string; edit?: ZoneEdit; existing?: ReadonlyMap<string, Rrset> },
): Promise<ZoneChangeResult> {
  refuseTooManyWanted(zone, wanted)
  refuse(await flatMapInTurns(wanted, rrsetProblems))
  const now = ctx.hub.clock.now()
  const existing = by.existing ?? (await rrsetsAt(tx, zone.id, wanted))
  refuse(await flatMapInTurns(wanted, one => metadataProblems(one, existing.get(rrsetKey(one))?.row ?? one.carried, now)))
  const steps = await stepsOf({ ...by, zone, existing, wanted, now })
  refuse(steps.locked.map(lockedProblem))
  refuseDriven(zone, steps.driven)
  if (steps.changedRrsets.length === 0 && steps.changes.length === 0 && !by.edit)
    return { zone, changes: [], rrsets: [], effects: noEffects(), unchanged: true }
  refuseTooMany(steps)
  const recordCount = zone.recordCount + steps.inserts.length - steps.removedRecords.length
  if (recordCount > zone.recordCount) refuseOverRecordLimit(ctx, zone, recordCount)
  await write(tx, steps, now)
  refuse(await zoneProblems(tx, zone, steps.touched, typesAfter(existing, wanted)))
  await updateModifiedFlags(tx, zone.id, steps.rrsets, now)
  const removedNs = wanted.find(one => one.name === '@' && one.type === 'NS' && one.values.length === 0)
  if (removedNs && existing.has('@ NS') && !(await hasNameServers(tx, zone)))
    refuse([ruleViolation(removedNs.pointer, 'A zone needs at least one NS record at its apex', 'RFC 1034 4.2.1')])
  // Metadata such as comments and tags doesn’t affect DNS answers.
  const affectsAnswers = steps.changes.length > 0 || by.edit !== undefined
  const after = await updateZoneRow(tx, zone, affectsAnswers ? { ...by.edit, recordCount } : null, now)
  await recordChangeset(tx, ctx, { before: zone, after }, by, steps)
  if (!affectsAnswers) return { zone: after, changes: [], rrsets: steps.rrsets, effects: noEffects(), unchanged: false }
  const notifyJobs = await notifyServers(tx, ctx.hub, after, {
    changed: isAnswered(after) === isAnswered(zone) ? steps.changes : null,
    servedChanged: zone.version === 0 ? after.isServed : isAnswered(after) !== isAnswered(zone),
  })
  const syncJobs = await markPending(tx, after, steps.changes, now)
  return {
    zone: after,
    changes: steps.changes,
    rrsets: steps.rrsets,
    effects: {
      events: steps.changes.length > 0 ? [changedEvent(ctx, after, by.origin, steps.changes)] : [],
      wakeTopics: [zonesTopic],
      jobs: [
        ...notifyJobs,
        ...syncJobs,
        ...steps.rrsets.flatMap(one =>
          one.type === 'ALIAS' && one.after ? [resolveAlias({ rrsetId: one.after.row.id, workspaceId: zone.workspaceId })] : [],
        ),
      ],
    },
    unchanged: false,
  }
}

/** The types at the names of a change, once it is made. */
function typesAfter(existing: ReadonlyMap<string, Rrset>, wanted: readonly WantedRrset[]): Map<string, Set<string>> {
  const types = new Map<string, Set<string>>()
  for (const { row } of existing.values()) types.set(row.name, (types.get(row.name) ?? new Set()).add(row.type))
  for (const { name, type, values } of wanted)
    if (values.length === 0) types.get(name)?.delete(type)
    else types.set(name, (types.get(name) ?? new Set()).add(type))
  return types
}

const noEffects = () => ({ events: [], wakeTopics: [], jobs: [] })

/** The new serial, and the number of records that were created, updated, and deleted. */
export const summaryOf = ({ zone, changes }: Pick<ZoneChangeResult, 'zone' | 'changes'>) => {
  const count = (action: RecordChange['action']) => changes.filter(one => one.action === action).length
  return { serial: zone.serial, created: count('created'), updated: count('updated'), deleted: count('deleted') }
}

const isAnswered = ({ status, isServed }: ZoneRow): boolean => status === 'active' && isServed

/** @param edit null if only metadata has changed */
async function updateZoneRow(
  tx: Tx,
  zone: ZoneRow,
  edit: (ZoneEdit & { recordCount: number }) | null,
  now: number,
): Promise<ZoneRow> {
  const next = { version: zone.version + 1, updatedAt: now }
  if (!edit) {
    await updateRows(tx, dnsZones, zoneAfterMetadata, [{ id: zone.id, ...next }])
    return { ...zone, ...next }
  }
  // A blocked plan no longer applies once the zone has changed.
  const { recordCount, serial = nextSerial(zone.serial), ...others } = edit
  const changed = { recordCount, serial, blockedPlanId: null, ...next }
  await updateRows(tx, dnsZones, zoneAfterChange, [{ id: zone.id, ...changed }])
  if (Object.keys(others).length > 0) await tx.update(dnsZones).set(others).where(eq(dnsZones.id, zone.id))
  return { ...zone, ...changed, ...others }
}

const zoneAfterMetadata = { name: 'after-metadata-change', set: ['version', 'updatedAt'] } as const

const zoneAfterChange = {
  name: 'after-change',
  set: ['recordCount', 'serial', 'blockedPlanId', 'version', 'updatedAt'],
} as const

/** Deletes first, so that a value can move from one record to another. */
async function write(tx: Tx, steps: Steps, now: number): Promise<void> {
  await deleteRows(tx, dnsRecords, steps.removedRecords)
  await deleteRows(tx, dnsRrsets, steps.removedRrsets)
  await insertRows(tx, dnsRrsets, steps.newRrsets)
  await updateRows(tx, dnsRrsets, changedRrset, steps.changedRrsets)
  // Two records may swap values. Clear their hashes first, so that the unique index isn’t violated halfway.
  if (steps.updates.length > 1)
    await updateRows(
      tx,
      dnsRecords,
      clearedHash,
      steps.updates.map(({ id }) => ({ id, rdataHash: id })),
    )
  await updateRows(tx, dnsRecords, changedValue, steps.updates)
  await bumpRecords(tx, steps.bumpedRecords, now)
  await insertRows(tx, dnsRecords, steps.inserts)
  for (const ids of batches(steps.clearedMarks))
    await tx.delete(dnsRecordMarks).where(and(inArray(dnsRecordMarks.recordId, ids), metadataMarks))
  await insertRows(tx, dnsRecordMarks, steps.marks)
}

/** The columns of an rrset that an edit may set. */
const changedRrset = {
  name: 'change',
  set: ['ttl', 'options', 'comment', 'locked', 'tags', 'expiresAt', 'version', 'updatedAt'],
} as const

const clearedHash = { name: 'clear-hash', set: ['rdataHash'] } as const

const changedValue = {
  name: 'value',
  set: ['content', 'contentKey', 'target', 'rdata', 'rdataHash', 'version', 'updatedAt'],
} as const

/** Increases the versions of records. */
async function bumpRecords(tx: Tx, ids: readonly string[], now: number): Promise<void> {
  await forIds(ids, (size, list, values) =>
    prepared<{ id: string }[], Tx>(tx, `dns-records-bump|${size}`, handle =>
      handle
        .update(dnsRecords)
        .set({ version: sql`${dnsRecords.version} + 1`, updatedAt: sql`${sql.placeholder('now')}` })
        .where(sql`${dnsRecords.id} in ${list}`)
        .returning({ id: dnsRecords.id }),
    ).execute({ ...values, now }),
  )
}

/** Marks of metadata. Marks of sync states sort before `#`. */
const metadataMarks = gte(dnsRecordMarks.mark, '#')

const maxProblems = 20

/** @throws Problem 422 if there are any problems */
export function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems))
}

/**
 * Maximum number of records one change may create, update and delete. A change is one transaction that blocks all other writes.
 * Writing this many takes about a second.
 */
export const maxRecordsPerChange = 10_000

/** @throws Problem 422 */
function refuseTooMany({ inserts, updates, bumpedRecords, removedRecords }: Steps): void {
  const count = inserts.length + updates.length + bumpedRecords.length + removedRecords.length
  if (count > maxRecordsPerChange) throw tooMany(String(count))
}

/** Refuses in advance what certainly creates too many records. @throws Problem 422 */
export function refuseTooManyWanted(zone: ZoneRow, wanted: Iterable<WantedRrset>): void {
  let created = -zone.recordCount
  for (const one of wanted) created += one.values.length
  if (created > maxRecordsPerChange) throw tooMany(`at least ${created}`)
}

const tooMany = (count: string): Problem =>
  invalid([
    {
      pointer: '#',
      code: 'too_many',
      detail: `changes ${count} records, but a request can change at most ${maxRecordsPerChange}. Split it into several requests.`,
    },
  ])

/** @throws Problem 409 `record_driven` */
function refuseDriven(zone: ZoneRow, [driven]: Steps['driven']): void {
  if (!driven) return
  const { name, type, drivenBy } = driven
  throw new Problem(
    'record_driven',
    `The ${type} records of ${fqdnOf(name, zone.name)} are set by the dynamic IP source ${drivenBy}. Change the source, or remove the name from its hosts first.`,
    { fields: { dynamic_ip_id: drivenBy } },
  )
}

/** @throws Problem 403 `plan_limit_reached` */
function refuseOverRecordLimit(ctx: Changer, zone: ZoneRow, wanted: number): void {
  const max = ctx.limits.dns_records
  if (max === null || max === undefined || wanted <= max) return
  throw new Problem('plan_limit_reached', `Your plan allows ${max} records per zone; ${zone.name} has ${zone.recordCount}.`, {
    fields: { limit: 'dns_records', max, used: zone.recordCount, plan: ctx.planId },
  })
}
