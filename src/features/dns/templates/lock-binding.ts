import { target } from '../../../core/audit'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { canAccess } from '../../../core/resource-access'
import { notFound } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import { lockZone, type ZoneRow } from '../zones/rows'
import { bindingRows, lockBinding, type BindingRow } from './binding-rows'
import { lockTemplate, type KnownTemplate } from './templates'

/** Locks a binding and its zone, so that changes of the zone are serialized. @throws Problem 404 */
export async function lockBindingWithZone(
  tx: Tx,
  ctx: Ctx,
  id: string,
): Promise<{ template: KnownTemplate; zone: ZoneRow; row: BindingRow }> {
  const { zoneId, templateId } = await findRow(tx, ctx, bindingRows, id)
  const template = await lockTemplate(tx, ctx, templateId)
  const zone = await lockZone(tx, ctx, zoneId)
  return { template, zone, row: await lockBinding(tx, id) }
}

/** Locks a zone the caller can access. @throws Problem 404 */
export async function lockAccessibleZone(tx: Tx, ctx: Ctx, id: string): Promise<ZoneRow> {
  if (!canAccess(ctx, id)) throw notFound('zone')
  return await lockZone(tx, ctx, id)
}

export const bindingTarget = (row: { id: string }) => target('template_binding', row)
