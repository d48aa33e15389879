import { target } from '../../../core/audit'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { reaches } from '../../../core/narrowing'
import { notFound } from '../../../core/problem'
import { zoneHeld, type ZoneRow } from '../zone-rows'
import { bindingHeld, bindingOf, type BindingRow } from './binding-rows'
import { templateKept, type KnownTemplate } from './templates'

/** A binding with its zone held: changes of a zone take turns. @throws Problem 404 */
export async function bindingWithZone(
  tx: Tx,
  ctx: Ctx,
  id: string,
): Promise<{ template: KnownTemplate; zone: ZoneRow; row: BindingRow }> {
  const { zoneId, templateId } = await bindingOf(tx, ctx, id)
  const template = await templateKept(tx, ctx, templateId)
  const zone = await zoneHeld(tx, ctx, zoneId)
  return { template, zone, row: await bindingHeld(tx, id) }
}

/** A zone that the caller reaches, held. @throws Problem 404 */
export async function zoneReached(tx: Tx, ctx: Ctx, id: string): Promise<ZoneRow> {
  if (!reaches(ctx, id)) throw notFound('zone')
  return await zoneHeld(tx, ctx, id)
}

export const bindingTarget = (row: { id: string }) => target('template_binding', row)
