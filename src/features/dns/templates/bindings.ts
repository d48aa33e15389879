import { eq } from 'drizzle-orm'
import { change, isAlready, type Changed } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { violation } from '../../../core/db/errors'
import { requireMatch } from '../../../core/if-match'
import { listPage } from '../../../core/list'
import { invalid, notFound, Problem } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import { countsOf } from '../rrsets'
import { allowing } from '../sync/allowing'
import { unlocking } from '../sync/plans'
import { changeZone } from '../zone-changes'
import { zoneOf, zoneTarget } from '../zones'
import { removalOf } from './application'
import { bindingListing, bindingOf, bindingView, bindingViews, type BindingRow } from './binding-rows'
import type { BindingDetail, BindingPatch, BindingView, UnbindQuery } from './binding-shapes'
import { bindingTarget, bindingWithZone } from './held'
import { editsOf, placedOf } from './note-edits'
import type { PlacedRrset } from './placed'
import { dnsTemplateBindings, dnsTemplateRrsets } from './tables'
import { templateOf, templateTarget } from './templates'
import { mergedValues, settleValues } from './variables'

/** Bindings of the workspace that the caller reaches. */
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

/** A binding with what of it was edited in the zone. @throws Problem 404 */
export async function getBinding(ctx: Ctx, id: string): Promise<BindingDetail> {
  const { read } = ctx.hub
  const row = await bindingOf(read, ctx, id)
  const [view] = await bindingViews(read, [row])
  if (!view) throw notFound('template binding')
  const placed = await placedOf(read, id)
  return { ...view, rrsets: placed.map(placedView), edits: await editsOf(read, row.zoneId, placed) }
}

/** Edits a binding; the zone stays as it is until it is applied. @throws Problem 404, 412, 422, 409 `already_exists` */
export async function updateBinding(ctx: Ctx, id: string, patch: BindingPatch): Promise<BindingView> {
  try {
    return await change(ctx, 'dns.template_binding.update', async tx => {
      const { template, zone, row } = await bindingWithZone(tx, ctx, id)
      requireMatch(ctx, row)
      const view = (of: BindingRow) => bindingView(of, zone.name, template.contentVersion)
      const variables = patch.variables && mergedValues(template.content.variables, row.variables, patch.variables)
      if (variables) {
        const { problems } = settleValues(template.content.variables, variables)
        if (problems.length > 0) throw invalid(problems)
      }
      const edit = { ...(patch.mode && { mode: patch.mode }), ...(variables && { variables }) }
      if (isAlready(row, edit)) return { result: view(row), target: bindingTarget(row), unchanged: true }
      const [after] = await tx
        .update(dnsTemplateBindings)
        .set({
          ...edit,
          pending: row.pending || !isAlready(row, { variables }),
          version: row.version + 1,
          updatedAt: ctx.hub.clock.now(),
        })
        .where(eq(dnsTemplateBindings.id, id))
        .returning()
      return {
        result: view(after!),
        target: [bindingTarget(row), templateTarget(template), zoneTarget(zone)],
        before: view(row),
        after: view(after!),
      }
    })
  } catch (error) {
    if (violation(error) === 'unique')
      throw new Problem('already_exists', 'Another binding links the template to this place already.')
    throw error
  }
}

/** Forgets that a template was applied; the records stay, unless they are to go. @throws Problem 404, 412, 422, 409 `plan_blocked` */
export async function deleteBinding(ctx: Ctx, id: string, { records, ...overriding }: UnbindQuery): Promise<void> {
  await change(ctx, 'dns.template_binding.delete', async (tx): Promise<Changed<void>> => {
    const { template, zone, row } = await bindingWithZone(tx, ctx, id)
    requireMatch(ctx, row)
    const placed = await placedOf(tx, id)
    const target = [bindingTarget(row), templateTarget(template), zoneTarget(zone)]
    const before = bindingView(row, zone.name, template.contentVersion)
    // First, so that the edit of its own records is not noted for it.
    await tx.delete(dnsTemplateRrsets).where(eq(dnsTemplateRrsets.bindingId, id))
    await tx.delete(dnsTemplateBindings).where(eq(dnsTemplateBindings.id, id))
    if (records !== 'remove') return { result: undefined, target, before }
    const { wanted, reasons } = await removalOf(tx, zone, { bindingId: id, placed })
    const allowed = allowing(reasons, overriding, {}, '#/query/note')
    const made = await changeZone(tx, ctx, zone, allowed.includes('locked') ? wanted.map(unlocking) : wanted, {
      source: 'template',
      origin: 'template',
      note: overriding.note ?? null,
    })
    return {
      result: undefined,
      target,
      before,
      after: { serial: made.zone.serial, ...countsOf(made.changes), ...(allowed.length > 0 && { allowed }) },
      reason: overriding.note ?? null,
      events: made.events,
      wakes: made.wakes,
      jobs: made.jobs,
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
