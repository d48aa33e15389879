import { change } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { parseField } from '../records/parse-field'
import { validateChange } from '../plans/plans'
import { recordNameOf } from '../zones/names'
import { zoneTarget } from '../zones/zones'
import { planApplication, outcomeView } from './application'
import type { BindingApplyInput, PreviewInput, PreviewView } from './binding-shapes'
import { lockBindingWithZone, lockAccessibleZone } from './lock-binding'
import { placedOf } from './track-modifications'
import { templateOf, templateTarget } from './templates'
import { mergedValues } from './variables'

/** Returns what a template would change: applies it and rolls back. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function previewTemplate(ctx: Ctx, id: string, input: PreviewInput): Promise<PreviewView> {
  return await previewed(ctx, async tx => {
    const template = await templateOf(tx, ctx, id)
    const zone = await lockAccessibleZone(tx, ctx, input.zone_id)
    const host = parseField('#/host', () => recordNameOf(input.host ?? '@', zone.name))
    return { template, zone, host, variables: input.variables ?? {}, before: null }
  })
}

/** Returns what updating a binding to the latest version would change. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function previewBinding(ctx: Ctx, id: string, input: Pick<BindingApplyInput, 'variables'>): Promise<PreviewView> {
  return await previewed(ctx, async tx => {
    const { template, zone, row } = await lockBindingWithZone(tx, ctx, id)
    return {
      template,
      zone,
      host: row.host,
      variables: mergedValues(template.content.variables, row.variables, input.variables),
      before: { bindingId: id, placed: await placedOf(tx, id) },
    }
  })
}

async function previewed(ctx: Ctx, find: (tx: Tx) => Promise<Parameters<typeof planApplication>[1]>): Promise<PreviewView> {
  return await change(ctx, 'dns.template.preview', async (tx): Promise<ChangeResult<PreviewView>> => {
    const of = await find(tx)
    const { outcomes, wanted, ops, reasons, warnings } = await planApplication(tx, of)
    const applicable = !outcomes.some(one => one.outcome === 'conflict')
    if (applicable) await validateChange(tx, ctx, of.zone, wanted, { source: 'template', origin: 'template' })
    const { template, zone } = of
    return {
      result: {
        template_id: template.id,
        template_version: template.contentVersion,
        zone_id: zone.id,
        zone: zone.name,
        host: of.host,
        serial: zone.serial,
        applicable,
        blocked: reasons,
        records: outcomes.map(outcomeView),
        changes: ops,
        warnings,
      },
      target: [templateTarget(template), zoneTarget(zone)],
      unchanged: true,
    }
  })
}
