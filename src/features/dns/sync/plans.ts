import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, inArray, lt } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import { canonicalJson } from '../../../core/canonical-json'
import { sha256Hex } from '../../../core/crypto'
import { record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { triedOut } from '../../../core/db/savepoint'
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
import { rrsetKey, type ZoneRow } from '../zone-rows'
import { zoneOf } from '../zones'
import type { BlockReason } from './guards'
import { keptEdit, plannedHere, plannedOp, plannedOps, type PlannedOp } from './plan-forms'
import { plannedAtTargets, type PlanScope } from './plan-targets'
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
 * @param at which targets it is for, all when absent, and what of others it puts back there
 * @throws Problem 422, 403 `plan_limit_reached`
 */
export async function makePlan(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: { source: RecordSource; origin: ChangeOrigin; note?: string; edit?: ZoneEdit },
  at: PlanScope = {},
): Promise<PlanRow> {
  await tryOut(tx, ctx, zone, wanted, by)
  const { ops, reasons } = await editsOf(tx, zone, wanted)
  const elsewhere = await plannedAtTargets(tx, ctx.hub, zone, ops, at)
  const here = [...(by.edit ? soaOps(zone, { ...zone, ...by.edit }) : []), ...ops.map(plannedOp)]
  const isHere = wanted.length > 0 || by.edit !== undefined || elsewhere.length === 0
  return await writePlan(tx, zone, {
    edits: wanted.length === 0 ? null : wanted.map(keptEdit),
    zoneEdit: by.edit ?? null,
    targets: [...(isHere ? [plannedOps(here, plannedHere({ ...zone, ...by.edit }))] : []), ...elsewhere.map(one => one.planned)],
    blocked: joined([...reasons, ...elsewhere.flatMap(one => one.reasons)]),
    enforce: at.enforce ?? null,
    origin: by.origin,
    source: by.source,
    note: by.note ?? '',
    createdBy: ctx.actor,
    now: ctx.hub.clock.now(),
  })
}

type PlanDraft = Pick<
  PlanRow,
  'edits' | 'zoneEdit' | 'targets' | 'enforce' | 'blocked' | 'origin' | 'source' | 'note' | 'createdBy'
>

/** Writes down a plan that can be carried out from now on. */
export async function writePlan(tx: Tx, zone: ZoneRow, { now, ...plan }: PlanDraft & { now: number }): Promise<PlanRow> {
  const { edits, zoneEdit, targets, enforce } = plan
  const [row] = await tx
    .insert(dnsPlans)
    .values({
      id: newId('plan'),
      zoneId: zone.id,
      workspaceId: zone.workspaceId,
      zoneVersion: zone.version,
      hash: planHash({ zone: zone.id, version: zone.version, edits, zoneEdit, targets, enforce }),
      ...plan,
      allowed: [],
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
  await triedOut(tx, () => changeZone(tx, ctx, zone, wanted.map(unlocking), by))
}

/** A lock holds a plan back as a reason of its own, which whoever applies it overrides. */
export const unlocking = (wanted: WantedRrset): WantedRrset => ({ ...wanted, unlocks: true })

/** Each reason once, with all that it is about. */
export const joined = (reasons: readonly BlockReason[]): BlockReason[] =>
  [...Map.groupBy(reasons, one => one.code).values()].map(alike => ({
    ...alike[0]!,
    detail: [...new Set(alike.map(one => one.detail))].join(' ').slice(0, 1000),
    members: [...new Map(alike.flatMap(one => one.members).map(one => [rrsetKey(one), one])).values()].slice(0, 20),
  }))

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
