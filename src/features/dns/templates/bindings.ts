import { eq } from 'drizzle-orm'
import { change, isUnchanged } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { requireMatch } from '../../../core/if-match'
import { listPage } from '../../../core/list'
import { invalid, notFound } from '../../../core/problem'
import { findRow, removeRow, saveRow, refuseDuplicate } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { requireAllowed } from '../plans/require-allowed'
import { ignoringLock } from '../plans/plans'
import { changeZone, summaryOf } from '../changes/change-zone'
import { zoneTarget } from '../zones/zones'
import { removalOf } from './application'
import { bindingListing, bindingRows, bindingView, bindingViews, type BindingRow } from './binding-rows'
import type { BindingDetail, BindingPatch, BindingView, UnbindQuery } from './binding-shapes'
import { bindingTarget, lockBindingWithZone } from './lock-binding'
import { differencesOf, placedOf } from './track-modifications'
import type { PlacedRrset } from './placed-rrsets'
import { dnsTemplateRrsets } from './tables'
import { templateOf, templateTarget } from './templates'
import { mergedValues, settleValues } from './variables'
import { zoneOf } from '../zones/rows'

/** Lists the bindings the caller can access. */
export async function listBindings(ctx: Ctx, query: Record<string, unknown>): Promise<Page<BindingView>> {
  const page = await listPage(ctx, bindingListing, query, row => row)
  return { ...page, data: await bindingViews(ctx.hub.read, page.data) }
}

/** @throws Problem 404 */
export async function listBindingsOfTemplate(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<BindingView>> {
  await templateOf(ctx.hub.read, ctx, id)
  return await listBindings(ctx, { ...query, template_id: id })
}

/** @throws Problem 404 */
export async function listBindingsOfZone(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<BindingView>> {
  await zoneOf(ctx.hub.read, ctx, id)
  return await listBindings(ctx, { ...query, zone_id: id })
}

/** Returns a binding with its differences from the zone. @throws Problem 404 */
export async function getBinding(ctx: Ctx, id: string): Promise<BindingDetail> {
  const { read } = ctx.hub
  const row = await findRow(read, ctx, bindingRows, id)
  const [view] = await bindingViews(read, [row])
  if (!view) throw notFound('template binding')
  const placed = await placedOf(read, id)
  return { ...view, rrsets: placed.map(placedView), differences: await differencesOf(read, row.zoneId, placed) }
}

/**
 * Updates a binding. The zone doesn’t change until the binding is applied.
 * @throws Problem 404, 412, 422, 409 `already_exists`
 */
export async function updateBinding(ctx: Ctx, id: string, patch: BindingPatch): Promise<BindingView> {
  return await refuseDuplicate('Another binding already links the template to this name.', () =>
    change(ctx, 'dns.template_binding.update', async tx => {
      const { template, zone, row } = await lockBindingWithZone(tx, ctx, id)
      requireMatch(ctx, row)
      const view = (of: BindingRow) => bindingView(of, zone.name, template.contentVersion)
      const variables = patch.variables && mergedValues(template.content.variables, row.variables, patch.variables)
      if (variables) {
        const { problems } = settleValues(template.content.variables, variables)
        if (problems.length > 0) throw invalid(problems)
      }
      const edit = { ...(patch.mode && { mode: patch.mode }), ...(variables && { variables }) }
      if (isUnchanged(row, edit)) return { result: view(row), target: bindingTarget(row), unchanged: true }
      const after = await saveRow(tx, ctx, bindingRows, row, {
        ...edit,
        pending: row.pending || !isUnchanged(row, { variables }),
      })
      return {
        result: view(after),
        target: [bindingTarget(row), templateTarget(template), zoneTarget(zone)],
        before: view(row),
        after: view(after),
      }
    }),
  )
}

/** Deletes a binding, and its records if requested. @throws Problem 404, 412, 422, 409 `plan_blocked` */
export async function deleteBinding(ctx: Ctx, id: string, { records, ...overriding }: UnbindQuery): Promise<void> {
  await change(ctx, 'dns.template_binding.delete', async (tx): Promise<ChangeResult<void>> => {
    const { template, zone, row } = await lockBindingWithZone(tx, ctx, id)
    requireMatch(ctx, row)
    const placed = await placedOf(tx, id)
    const target = [bindingTarget(row), templateTarget(template), zoneTarget(zone)]
    const before = bindingView(row, zone.name, template.contentVersion)
    // Delete the binding first, so that removing its records doesn’t mark it as modified.
    await tx.delete(dnsTemplateRrsets).where(eq(dnsTemplateRrsets.bindingId, id))
    await removeRow(tx, bindingRows, row)
    if (records !== 'remove') return { result: undefined, target, before }
    const { wanted, reasons } = await removalOf(tx, zone, { bindingId: id, placed })
    const allowed = requireAllowed(reasons, overriding, {}, '#/query/note')
    const result = await changeZone(tx, ctx, zone, allowed.includes('locked') ? wanted.map(ignoringLock) : wanted, {
      source: 'template',
      origin: 'template',
      note: overriding.note ?? null,
    })
    return {
      result: undefined,
      target,
      before,
      after: { ...summaryOf(result), ...(allowed.length > 0 && { allowed }) },
      reason: overriding.note ?? null,
      ...result.effects,
    }
  })
}

const placedView = ({ name, type, ttl, essential, values, spf }: PlacedRrset) => ({
  name,
  type,
  ttl,
  essential,
  values: values.map(one => one.content),
  spf_terms: spf?.terms ?? [],
})
