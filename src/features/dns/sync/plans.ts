import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import { canonicalJson } from '../../../core/canonical-json'
import { sha256Hex } from '../../../core/crypto'
import { record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { undoable } from '../../../core/db/savepoint'
import { textOf } from '../../../core/dns/rdata'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { listPage, type Listing } from '../../../core/list'
import { reaches } from '../../../core/narrowing'
import { notFound } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import type { ChangeOrigin } from '../changed-event'
import type { WantedRrset } from '../rrset-rules'
import { dnsZones, type RecordSource } from '../tables'
import { soaMembers, soaRdataOf } from '../soa-members'
import { changeZone, type Changer, type ZoneEdit } from '../zone-changes'
import type { ZoneRow } from '../zone-rows'
import { builtin } from '../zone-shapes'
import { zoneOf } from '../zones'
import { keptEdit, mostOpsShown, plannedOp, type PlannedOp, type PlannedTarget } from './plan-forms'
import type { PlanView } from './shapes'
import { dnsPlans } from './tables'
import { editsOf } from './zone-edits'

export type PlanRow = typeof dnsPlans.$inferSelect

/** How long a plan may be carried out, in ms. */
export const planLifeMs = 15 * 60_000

/**
 * Writes down what edits would do to a zone, and the reasons not to do so unasked; nothing else is written. The edits are held to the rules
 * of DNS and to the limits of the plan as if they were made.
 * @param zone as of `zoneHeld`
 * @param wanted none, and no edit of the zone itself, is a plan that changes nothing of what is kept here
 * @throws Problem 422, 403 `plan_limit_reached`
 */
export async function makePlan(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: { source: RecordSource; origin: ChangeOrigin; note?: string; edit?: ZoneEdit },
): Promise<PlanRow> {
  await tryOut(tx, ctx, zone, wanted, by)
  const { ops, reasons } = await editsOf(tx, zone, wanted)
  const edits = wanted.length === 0 ? null : wanted.map(keptEdit)
  const zoneEdit = by.edit ?? null
  const targets = [plannedHere([...(by.edit ? soaOps(zone, { ...zone, ...by.edit }) : []), ...ops.map(plannedOp)])]
  const now = ctx.hub.clock.now()
  const [row] = await tx
    .insert(dnsPlans)
    .values({
      id: newId('plan'),
      zoneId: zone.id,
      workspaceId: zone.workspaceId,
      zoneVersion: zone.version,
      hash: planHash({ zone: zone.id, version: zone.version, edits, zoneEdit, targets }),
      edits,
      zoneEdit,
      targets,
      blocked: reasons,
      origin: by.origin,
      source: by.source,
      note: by.note ?? '',
      allowed: [],
      createdBy: ctx.actor,
      createdAt: now,
      expiresAt: now + planLifeMs,
      appliedAt: null,
    })
    .returning()
  return row!
}

/** The change is made and undone again: whatever would refuse it does so now. @throws Problem 422, 403 `plan_limit_reached` */
export async function tryOut(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: { source: RecordSource; origin: ChangeOrigin; edit?: ZoneEdit },
): Promise<void> {
  if (wanted.length === 0 && !by.edit) return
  const undone = new Error('The change was tried out.')
  try {
    await undoable(tx, async () => {
      await changeZone(tx, ctx, zone, wanted.map(unlocking), by)
      throw undone
    })
  } catch (error) {
    if (error !== undone) throw error
  }
}

/** A lock holds a plan back as a reason of its own, which whoever applies it overrides. */
export const unlocking = (wanted: WantedRrset): WantedRrset => ({ ...wanted, unlocks: true })

const plannedHere = (ops: readonly PlannedOp[]): PlannedTarget => ({
  target_id: null,
  provider_id: builtin,
  observed_hash: null,
  ops_hash: sha256Hex(canonicalJson(ops)),
  op_count: ops.length,
  ops: ops.slice(0, mostOpsShown),
})

/** What becomes of the SOA record, its serial left as it is: the change moves it. */
function soaOps(zone: ZoneRow, after: ZoneRow): PlannedOp[] {
  const form = (one: ZoneRow) => ({
    ttl: one.soaTtl,
    values: [textOf('SOA', soaRdataOf(soaMembers(one), zone.serial))],
  })
  return isDeepStrictEqual(form(zone), form(after))
    ? []
    : [{ action: 'update', name: '@', type: 'SOA', before: form(zone), after: form(after) }]
}

const planHash = (of: object): string => sha256Hex(canonicalJson(JSON.parse(JSON.stringify(of))))

/** How a plan stands now. @param zone its zone; null where that is gone */
export function planStatus(row: PlanRow, zone: { version: number } | undefined, now: number): PlanView['status'] {
  if (row.appliedAt !== null) return 'applied'
  if (row.expiresAt <= now) return 'expired'
  return zone?.version === row.zoneVersion ? 'open' : 'stale'
}

export const planView = (row: PlanRow, zone: { version: number } | undefined, now: number): PlanView => ({
  id: row.id,
  zone_id: row.zoneId,
  zone_version: row.zoneVersion,
  hash: row.hash,
  status: planStatus(row, zone, now),
  blocked: row.blocked,
  targets: row.targets.map(({ target_id, provider_id, op_count, ops }) => ({
    target_id,
    provider_id,
    op_count,
    ops,
    truncated: ops.length < op_count,
  })),
  origin: row.origin,
  note: row.note,
  allowed: row.allowed,
  created_by: { type: row.createdBy.type, id: row.createdBy.id, name: row.createdBy.name },
  created_at: instant(row.createdAt),
  expires_at: instant(row.expiresAt),
  applied_at: instant(row.appliedAt),
})

export const planListing: Listing<PlanRow> = {
  name: 'dns-plans',
  table: dnsPlans as never,
  id: dnsPlans.id,
  idOf: row => row.id,
  owner: dnsPlans.zoneId,
  defaultSort: '-id',
  filters: {},
  sorts: {},
}

/** Plans of a zone, newest first. @throws Problem 404 */
export async function listPlans(ctx: Ctx, zoneId: string, query: Record<string, unknown>): Promise<Page<PlanView>> {
  const zone = await zoneOf(ctx.hub.read, ctx, zoneId)
  const now = ctx.hub.clock.now()
  return await listPage(ctx, planListing, query, row => planView(row, zone, now), zoneId)
}

/** @throws Problem 404 */
export async function getPlan(ctx: Ctx, id: string): Promise<PlanView> {
  const row = await planOf(ctx.hub.read, ctx, id)
  const [zone] = await ctx.hub.read.select({ version: dnsZones.version }).from(dnsZones).where(eq(dnsZones.id, row.zoneId))
  return planView(row, zone, ctx.hub.clock.now())
}

/** @throws Problem 404 */
export async function planOf(read: Reader, ctx: Ctx, id: string): Promise<PlanRow> {
  const [row] = await read
    .select()
    .from(dnsPlans)
    .where(and(eq(dnsPlans.id, id), eq(dnsPlans.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.zoneId)) throw notFound('plan')
  return row
}

const keptMs = 7 * 86_400_000
const mostAtOnce = 200

/** Deletes plans a week after their end: what was done is in the history of the zone. */
export async function prunePlans(hub: Hub): Promise<void> {
  for (let deleted = mostAtOnce; deleted === mostAtOnce;) {
    deleted = await record(hub, async tx => {
      const old = await tx
        .select({ id: dnsPlans.id })
        .from(dnsPlans)
        .where(lt(dnsPlans.expiresAt, hub.clock.now() - keptMs))
        .orderBy(asc(dnsPlans.expiresAt))
        .limit(mostAtOnce)
      if (old.length > 0)
        await tx.delete(dnsPlans).where(
          inArray(
            dnsPlans.id,
            old.map(row => row.id),
          ),
        )
      return { result: old.length }
    })
  }
}
