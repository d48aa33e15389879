import { isDeepStrictEqual } from 'node:util'
import { eq, lt } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import { canonicalJson } from '../../../core/canonical-json'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { dryRun } from '../../../core/db/savepoint'
import { textOf } from '../../../dns/rdata'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { findRow, pruneRows } from '../../../core/rows'
import { newId } from '../../../core/ids'
import { listingOf, listPage } from '../../../core/list'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import type { ChangeOrigin } from '../changes/changed-event'
import type { WantedRrset } from '../changes/rrset-rules'
import { dnsZones } from '../zones/tables'
import { type RecordSource } from '../records/tables'
import { soaFieldsOf, soaRdataOf } from '../zones/soa-fields'
import { changeZone, type Changer } from '../changes/change-zone'
import { rrsetKey } from '../zones/names'
import { type ZoneEdit, type ZoneRow, zoneOf } from '../zones/rows'
import type { BlockReason } from './guards'
import { storedEdit, localTarget, plannedOp, plannedOps, type PlannedOp } from './plan-forms'
import { plannedAtTargets, type PlanScope } from './plan-targets'
import type { PlanView } from './shapes'
import { dnsPlans } from './tables'
import { editsOf } from './zone-edits'

export type PlanRow = typeof dnsPlans.$inferSelect

const planRows = rowsOf('plan', dnsPlans, { accessTo: row => row.zoneId })

/** How long a plan can be applied, in ms. */
const planLifeMs = 15 * 60_000

/**
 * Stores a plan for edits of a zone, with the reasons that block it. Validates the edits like a real change.
 * @param zone locked
 * @param wanted if empty, and the zone itself isn't edited, the plan only syncs targets
 * @param at targets to include, and external changes to revert there
 * @throws Problem 422, 403 `plan_limit_reached`
 */
export async function createPlan(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: { source: RecordSource; origin: ChangeOrigin; note?: string; edit?: ZoneEdit },
  at: PlanScope = {},
): Promise<PlanRow> {
  await validateChange(tx, ctx, zone, wanted, by)
  const { ops, reasons } = await editsOf(tx, zone, wanted)
  const elsewhere = await plannedAtTargets(tx, ctx.hub, zone, ops, at)
  const here = [...(by.edit ? soaOps(zone, { ...zone, ...by.edit }) : []), ...ops.map(plannedOp)]
  const isHere = wanted.length > 0 || by.edit !== undefined || elsewhere.length === 0
  return await storePlan(tx, zone, {
    edits: wanted.length === 0 ? null : wanted.map(storedEdit),
    zoneEdit: by.edit ?? null,
    targets: [...(isHere ? [plannedOps(here, localTarget({ ...zone, ...by.edit }))] : []), ...elsewhere.map(one => one.planned)],
    blocked: mergeReasons([...reasons, ...elsewhere.flatMap(one => one.reasons)]),
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

/** Stores a plan that can be applied from now on. */
export async function storePlan(tx: Tx, zone: ZoneRow, { now, ...plan }: PlanDraft & { now: number }): Promise<PlanRow> {
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

/** Validates a change by making it and rolling it back. @throws Problem 422, 403 `plan_limit_reached` */
export async function validateChange(
  tx: Tx,
  ctx: Changer,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
  by: { source: RecordSource; origin: ChangeOrigin; edit?: ZoneEdit },
): Promise<void> {
  if (wanted.length === 0 && !by.edit) return
  await dryRun(tx, () => changeZone(tx, ctx, zone, wanted.map(ignoringLock), by))
}

/** Bypasses locks: a lock blocks the plan as a reason that can be allowed. */
export const ignoringLock = (wanted: WantedRrset): WantedRrset => ({ ...wanted, unlocks: true })

/** Merges reasons with the same code. */
export const mergeReasons = (reasons: readonly BlockReason[]): BlockReason[] =>
  [...Map.groupBy(reasons, one => one.code).values()].map(same => ({
    ...same[0]!,
    detail: [...new Set(same.map(one => one.detail))].join(' ').slice(0, 1000),
    rrsets: [...new Map(same.flatMap(one => one.rrsets).map(one => [rrsetKey(one), one])).values()].slice(0, 20),
  }))

/** Change of the SOA record. Keeps the serial, which is increased by the change itself. */
function soaOps(zone: ZoneRow, after: ZoneRow): PlannedOp[] {
  const form = (one: ZoneRow) => ({
    ttl: one.soaTtl,
    values: [textOf('SOA', soaRdataOf(soaFieldsOf(one), zone.serial))],
  })
  return isDeepStrictEqual(form(zone), form(after))
    ? []
    : [{ action: 'update', name: '@', type: 'SOA', before: form(zone), after: form(after) }]
}

const planHash = (of: object): string => sha256Hex(canonicalJson(JSON.parse(JSON.stringify(of))))

/** Current status of a plan. @param zone its zone, if it still exists */
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

export const planListing = listingOf('dns-plans', dnsPlans, { owner: dnsPlans.zoneId, sorts: [] })

/** Plans of a zone, newest first. @throws Problem 404 */
export async function listPlans(ctx: Ctx, zoneId: string, query: Record<string, unknown>): Promise<Page<PlanView>> {
  const zone = await zoneOf(ctx.hub.read, ctx, zoneId)
  const now = ctx.hub.clock.now()
  return await listPage(ctx, planListing, query, row => planView(row, zone, now), zoneId)
}

/** @throws Problem 404 */
export async function getPlan(ctx: Ctx, id: string): Promise<PlanView> {
  const row = await findRow(ctx.hub.read, ctx, planRows, id)
  const [zone] = await ctx.hub.read.select({ version: dnsZones.version }).from(dnsZones).where(eq(dnsZones.id, row.zoneId))
  return planView(row, zone, ctx.hub.clock.now())
}

const retentionMs = 7 * 86_400_000

/** Deletes plans a week after they expire. Applied changes stay in the history of the zone. */
export const prunePlans = (hub: Hub): Promise<void> =>
  pruneRows(hub, dnsPlans, lt(dnsPlans.expiresAt, hub.clock.now() - retentionMs), dnsPlans.expiresAt)
