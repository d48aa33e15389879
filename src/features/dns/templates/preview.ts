import { change, type Changed } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { ruleKept } from '../rule-problems'
import { tryOut } from '../sync/plans'
import { recordNameOf } from '../zone-names'
import { zoneTarget } from '../zones'
import { applicationOf, outcomeView } from './application'
import type { BindingApplyInput, PreviewInput, PreviewView } from './binding-shapes'
import { bindingWithZone, zoneReached } from './held'
import { placedOf } from './note-edits'
import { templateOf, templateTarget } from './templates'
import { mergedValues } from './variables'

/** What a template would change; it is tried out and undone again. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function previewTemplate(ctx: Ctx, id: string, input: PreviewInput): Promise<PreviewView> {
  return await previewed(ctx, async tx => {
    const template = await templateOf(tx, ctx, id)
    const zone = await zoneReached(tx, ctx, input.zone_id)
    const host = ruleKept('#/host', () => recordNameOf(input.host ?? '@', zone.name))
    return { template, zone, host, variables: input.variables ?? {}, before: null }
  })
}

/** What bringing a binding to the newest version would change. @throws Problem 404, 422, 403 `plan_limit_reached` */
export async function previewBinding(ctx: Ctx, id: string, input: Pick<BindingApplyInput, 'variables'>): Promise<PreviewView> {
  return await previewed(ctx, async tx => {
    const { template, zone, row } = await bindingWithZone(tx, ctx, id)
    return {
      template,
      zone,
      host: row.host,
      variables: mergedValues(template.content.variables, row.variables, input.variables),
      before: { bindingId: id, placed: await placedOf(tx, id) },
    }
  })
}

async function previewed(ctx: Ctx, find: (tx: Tx) => Promise<Parameters<typeof applicationOf>[1]>): Promise<PreviewView> {
  return await change(ctx, 'dns.template.preview', async (tx): Promise<Changed<PreviewView>> => {
    const of = await find(tx)
    const { outcomes, wanted, ops, reasons, warnings } = await applicationOf(tx, of)
    const applicable = !outcomes.some(one => one.outcome === 'conflict')
    if (applicable) await tryOut(tx, ctx, of.zone, wanted, { source: 'template', origin: 'template' })
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
