import { and, eq, sql } from 'drizzle-orm'
import { target } from '../../../core/audit'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { canAccess } from '../../../core/resource-access'
import { conflict, notFound } from '../../../core/problem'
import { onePage, type Page } from '../../../core/shapes'
import { dnsZones } from '../zones/tables'
import { zoneOf, zoneRows } from '../zones/rows'
import { builtin } from '../zones/shapes'
import { zoneTarget } from '../zones/zones'
import { removeTarget } from './mark-pending'
import { addTarget, providerNotFound } from './new-target'
import type { TargetInput, TargetView } from './shapes'
import { syncJobFor } from '../sync/sync-jobs'
import { targetViews } from './sync-views'
import { dnsZoneTargets } from './tables'
import { targetsOf } from './target-rows'
import { lockRow } from '../../../core/rows'

/** Lists the sync targets of a zone. @throws Problem 404 */
export async function listTargets(ctx: Ctx, zoneId: string): Promise<Page<TargetView>> {
  const zone = await zoneOf(ctx.hub.read, ctx, zoneId)
  const rows = await ctx.hub.read
    .select()
    .from(dnsZoneTargets)
    .where(eq(dnsZoneTargets.zoneId, zone.id))
    .orderBy(dnsZoneTargets.id)
  const viewOf = await targetViews(ctx.hub.read, rows)
  return onePage(rows.map(viewOf))
}

/** Adds a sync target to a zone. @throws Problem 404, 409, 412, 422 */
export async function createTarget(ctx: Ctx, zoneId: string, input: TargetInput): Promise<TargetView> {
  return await change(ctx, 'dns.target.create', async tx => {
    const zone = await lockRow(tx, ctx, zoneRows, zoneId)
    if (!canAccess(ctx, input.provider_id)) throw providerNotFound()
    const row = await addTarget(tx, ctx.hub, zone, input.provider_id)
    const view = (await targetViews(tx, [row]))(row)
    return {
      result: view,
      target: [target('zone_target', { id: row.id }), zoneTarget(zone)],
      after: view,
      jobs: [syncJobFor(zone.id)],
    }
  })
}

/** Removes a sync target; its records stay at the provider. @throws Problem 404, 409 for the only place that serves the zone, 412 */
export async function deleteTarget(ctx: Ctx, zoneId: string, targetId: string): Promise<void> {
  await change(ctx, 'dns.target.delete', async tx => {
    const zone = await lockRow(tx, ctx, zoneRows, zoneId)
    const [row] = await tx
      .select()
      .from(dnsZoneTargets)
      .where(and(eq(dnsZoneTargets.id, targetId), eq(dnsZoneTargets.zoneId, zone.id)))
    if (!row) throw notFound('target of this zone')
    const [other] = (await targetsOf(tx, zone.id)).filter(one => one.id !== row.id)
    if (!other && !zone.isServed)
      throw conflict(
        'This is the only place that serves the zone. Enable the built-in name server for it (`served`) or add another target first.',
      )
    const view = (await targetViews(tx, [row]))(row)
    await removeTarget(tx, zone, row.id)
    const providerId = zone.providerId !== row.providerId ? zone.providerId : zone.isServed ? builtin : other!.providerId
    await tx
      .update(dnsZones)
      .set({ targetCount: sql`${dnsZones.targetCount} - 1`, blockedPlanId: null, providerId })
      .where(eq(dnsZones.id, zone.id))
    return { result: undefined, target: [target('zone_target', { id: row.id }), zoneTarget(zone)], before: view }
  })
}
