import { and, eq, gte, inArray, sql } from 'drizzle-orm'
import { jobContext, systemActor, type EventDraft } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { insertRows } from '../../core/db/insert-rows'
import type { Tx } from '../../core/db/transaction'
import { nextSerial } from '../../core/dns/serial'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/queue'
import { invalid, Problem, type FieldProblem } from '../../core/problem'
import { resolveAlias } from './aliases/queue'
import { changedEvent, type RecordChange } from './changed-event'
import { enterChange, type Entered } from './history/journal'
import { zonesTopic } from './publish'
import { markPending } from './sync/mark-pending'
import { lockedProblem, memberProblems } from './rrset-members'
import { broken, rrsetProblems, type WantedRrset } from './rrset-rules'
import { dnsRecordMarks, dnsRecords, dnsRrsets, dnsZones, type RecordSource } from './tables'
import { tellServers } from './transfers/tell-servers'
import { hasNameServers, zoneProblems } from './zone-rules'
import { pieces, rrsetKey, rrsetsAt, type RrsetRow, type ZoneRow } from './zone-rows'
import { stepsOf, type Steps } from './zone-steps'
import { noteEdits } from './templates/note-edits'

export interface ZoneChanged {
  zone: ZoneRow
  changes: RecordChange[]
  events: EventDraft[]
  wakes: string[]
  /** What follows from it, once it is committed. */
  jobs: JobDraft[]
  /** All was as it was wanted, comments too. */
  unchanged: boolean
}

/** Who changes a zone: a caller, or the hub by itself ({@link byItself}). */
export type Changer = Pick<Ctx, 'hub' | 'workspaceId' | 'actor' | 'context' | 'limits' | 'planId'>

/** The hub as the one who changes a zone, for background work. @param name that of the work */
export const byItself = (hub: Hub, zone: Pick<ZoneRow, 'workspaceId'>, name: string): Changer => ({
  hub,
  workspaceId: zone.workspaceId,
  actor: systemActor(name),
  context: jobContext,
  limits: {},
  planId: '',
})

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
    | 'updateLimit'
    | 'deleteLimit'
    | 'apply'
    | 'driftPolicy'
    | 'unmanaged'
    | 'ignoreRules'
    | 'blockedPlanId'
    | 'isServed'
  >
>

/**
 * Makes rrsets of a zone as they are wanted, in the transaction of the change: holds the result to the rules, moves the serial,
 * and tells of it. What is as it was stays as it was, with its ids; where all of it is, the serial stays too.
 * @param zone as of {@link zoneHeld}
 * @param edit members of the zone to set as well, whatever becomes of the records
 * @throws Problem 422 naming member, rule and document, or what is locked; 403 `plan_limit_reached`
 */
export async function changeZone(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: Entered & { source: RecordSource; edit?: ZoneEdit },
): Promise<ZoneChanged> {
  refuse(wanted.flatMap(rrsetProblems))
  const now = ctx.hub.clock.now()
  const existing = await rrsetsAt(
    tx,
    zone.id,
    wanted.map(one => one.name),
  )
  refuse(wanted.flatMap(one => memberProblems(one, existing.get(rrsetKey(one))?.row ?? one.carried, now)))
  const steps = stepsOf({ ...by, zone, existing, wanted, now })
  refuse(steps.locked.map(lockedProblem))
  if (steps.changedRrsets.length === 0 && steps.changes.length === 0 && !by.edit)
    return { zone, changes: [], events: [], wakes: [], jobs: [], unchanged: true }
  refuseTooMany(steps)
  const recordCount = zone.recordCount + steps.inserts.length - steps.removedRecords.length
  if (recordCount > zone.recordCount) refuseOverRecordLimit(ctx, zone, recordCount)
  await write(tx, steps, now)
  refuse(await zoneProblems(tx, zone, steps.touched))
  await noteEdits(tx, zone.id, steps.rrsets, now)
  const lost = wanted.find(one => one.name === '@' && one.type === 'NS' && one.values.length === 0)
  if (lost && existing.has('@ NS') && !(await hasNameServers(tx, zone)))
    refuse([broken(lost.pointer, 'must leave the zone an NS at its apex', 'RFC 1034 4.2.1')])
  // Comments, tags and the like are not served.
  const isServed = steps.changes.length > 0 || by.edit !== undefined
  // A plan that was held back is not that of the zone as it is now.
  const after = await moved(
    tx,
    zone,
    isServed ? { ...by.edit, blockedPlanId: null, recordCount } : { serial: zone.serial, recordCount },
    now,
  )
  await enterChange(tx, ctx, { before: zone, after }, by, steps)
  if (!isServed) return { zone: after, changes: [], events: [], wakes: [], jobs: [], unchanged: false }
  const told = await tellServers(tx, ctx.hub, after, {
    changed: isAnswered(after) === isAnswered(zone) ? steps.changes : null,
    isServedAnew: zone.version === 0 ? after.isServed : isAnswered(after) !== isAnswered(zone),
  })
  const pending = await markPending(tx, after, steps.changes, now)
  return {
    zone: after,
    changes: steps.changes,
    events: steps.changes.length > 0 ? [changedEvent(ctx, after, by.origin, steps.changes)] : [],
    wakes: [zonesTopic],
    jobs: [
      ...told,
      ...pending,
      ...steps.rrsets.flatMap(one =>
        one.type === 'ALIAS' && one.after ? [resolveAlias({ rrsetId: one.after.row.id, workspaceId: zone.workspaceId })] : [],
      ),
    ],
    unchanged: false,
  }
}

const isAnswered = ({ status, isServed }: ZoneRow): boolean => status === 'active' && isServed

async function moved(tx: Tx, zone: ZoneRow, edit: ZoneEdit & { recordCount: number }, now: number): Promise<ZoneRow> {
  const [after] = await tx
    .update(dnsZones)
    .set({ serial: nextSerial(zone.serial), ...edit, version: zone.version + 1, updatedAt: now })
    .where(eq(dnsZones.id, zone.id))
    .returning()
  return after!
}

/** Removals go first, so that a value may move from one record to another. */
async function write(tx: Tx, steps: Steps, now: number): Promise<void> {
  for (const ids of pieces(steps.removedRecords)) await tx.delete(dnsRecords).where(inArray(dnsRecords.id, ids))
  for (const ids of pieces(steps.removedRrsets)) await tx.delete(dnsRrsets).where(inArray(dnsRrsets.id, ids))
  await insertRows(tx, dnsRrsets, steps.newRrsets)
  for (const alike of Map.groupBy(steps.changedRrsets, one => JSON.stringify(settable(one))).values())
    for (const rows of pieces(alike))
      await tx
        .update(dnsRrsets)
        .set({ ...settable(rows[0]!), version: sql`${dnsRrsets.version} + 1`, updatedAt: now })
        .where(
          inArray(
            dnsRrsets.id,
            rows.map(one => one.id),
          ),
        )
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
  for (const ids of pieces(steps.editedAlong))
    await tx
      .update(dnsRecords)
      .set({ version: sql`${dnsRecords.version} + 1`, updatedAt: now })
      .where(inArray(dnsRecords.id, ids))
  await insertRows(tx, dnsRecords, steps.inserts)
  for (const ids of pieces(steps.unmarked))
    await tx.delete(dnsRecordMarks).where(and(inArray(dnsRecordMarks.recordId, ids), ofMembers))
  await insertRows(tx, dnsRecordMarks, steps.marks)
}

/** Marks that tell of members; those before tell how records are synced. */
const ofMembers = gte(dnsRecordMarks.mark, '#')

/** Columns that rrsets of one edit have alike. */
const settable = ({ ttl, options, comment, locked, tags, expiresAt }: RrsetRow) => ({
  ttl,
  options,
  comment,
  locked,
  tags,
  expiresAt,
})

const mostProblems = 20

/** @throws Problem 422 when there are any */
export function refuse(problems: readonly FieldProblem[]): void {
  if (problems.length > 0) throw invalid(problems.slice(0, mostProblems))
}

/**
 * Records that one change makes, edits and removes at most. All of them are one transaction, for which every other write waits, and
 * on SQLite every request: so many are written in about a second.
 */
export const mostChanged = 10_000

/** @throws Problem 422 */
function refuseTooMany({ inserts, updates, editedAlong, removedRecords }: Steps): void {
  const count = inserts.length + updates.length + editedAlong.length + removedRecords.length
  if (count > mostChanged)
    throw invalid([
      {
        pointer: '#',
        code: 'too_many',
        detail: `must change at most ${mostChanged} records at once, and would change ${count}: send it in pieces.`,
      },
    ])
}

/** @throws Problem 403 `plan_limit_reached` */
function refuseOverRecordLimit(ctx: Changer, zone: ZoneRow, wanted: number): void {
  const max = ctx.limits.dns_records
  if (max === null || max === undefined || wanted <= max) return
  throw new Problem('plan_limit_reached', `The plan allows ${max} records a zone; ${zone.name} has ${zone.recordCount}.`, {
    members: { limit: 'dns_records', max, used: zone.recordCount, plan: ctx.planId },
  })
}
