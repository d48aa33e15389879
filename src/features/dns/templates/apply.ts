import { count, eq } from 'drizzle-orm'
import { change, isAlready, type Changed } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { violation } from '../../../core/db/errors'
import type { Tx } from '../../../core/db/transaction'
import { newId } from '../../../core/ids'
import { requireMatch } from '../../../core/if-match'
import { conflict, Problem } from '../../../core/problem'
import { ruleKept } from '../rule-problems'
import { countsOf } from '../rrsets'
import { allowing } from '../sync/allowing'
import type { BlockCode } from '../sync/guards'
import { unlocking } from '../sync/plans'
import { changeZone, type Changer } from '../zone-changes'
import type { ZoneRow } from '../zone-rows'
import { recordNameOf } from '../zone-names'
import { zoneTarget } from '../zones'
import { applicationOf, outcomeView, refuseConflicts } from './application'
import { bindingView, type BindingRow } from './binding-rows'
import type { AppliedView, ApplyInput, BindingApplyInput } from './binding-shapes'
import type { Values } from './content'
import { bindingTarget, bindingWithZone, zoneReached } from './held'
import { placedOf } from './note-edits'
import type { PlacedRrset } from './placed'
import { dnsTemplateBindings, dnsTemplateRrsets } from './tables'
import { templateKept, templateTarget, type KnownTemplate } from './templates'
import { mergedValues } from './variables'

const mostBindings = 500

/** What a person says of the reasons for which it is held back. */
export type Overriding = { allow?: readonly BlockCode[]; note?: string }

/**
 * Puts a template into a zone, all of it or nothing, and remembers that it did.
 * @throws Problem 404, 422, 403 `plan_limit_reached`; 409 `conflict`, `plan_blocked`, `already_exists` where it is linked already
 */
export async function applyTemplate(ctx: Ctx, id: string, input: ApplyInput): Promise<AppliedView> {
  try {
    return await change(ctx, 'dns.template.apply', async tx => {
      const template = await templateKept(tx, ctx, id)
      const zone = await zoneReached(tx, ctx, input.zone_id)
      const host = ruleKept('#/host', () => recordNameOf(input.host ?? '@', zone.name))
      const [held] = await tx.select({ n: count() }).from(dnsTemplateBindings).where(eq(dnsTemplateBindings.zoneId, zone.id))
      if (held!.n >= mostBindings) throw conflict(`A zone has ${mostBindings} template bindings at most.`)
      const now = ctx.hub.clock.now()
      const [row] = await tx
        .insert(dnsTemplateBindings)
        .values({
          id: newId('tbnd'),
          workspaceId: zone.workspaceId,
          templateId: id,
          zoneId: zone.id,
          host,
          mode: input.mode ?? 'once',
          variables: input.variables ?? {},
          templateVersion: template.contentVersion,
          pending: false,
          edited: false,
          error: null,
          appliedAt: now,
          version: 0,
          createdAt: now,
          updatedAt: now,
        })
        .returning()
      return await applied(tx, ctx, template, zone, row!, { ...input, variables: input.variables ?? {} })
    })
  } catch (error) {
    if (violation(error) === 'unique')
      throw new Problem(
        'already_exists',
        'The template is linked to this place already: apply that binding, or edit its variables.',
      )
    throw error
  }
}

/**
 * Brings a binding to the newest version of its template, and restores what was edited by hand.
 * @throws Problem 404, 412, 422, 403 `plan_limit_reached`; 409 `conflict`, `plan_blocked`
 */
export async function applyBinding(ctx: Ctx, id: string, input: BindingApplyInput): Promise<AppliedView> {
  return await change(ctx, 'dns.template_binding.apply', async tx => {
    const { template, zone, row } = await bindingWithZone(tx, ctx, id)
    requireMatch(ctx, row)
    const variables = mergedValues(template.content.variables, row.variables, input.variables)
    return await applied(tx, ctx, template, zone, row, { ...input, variables })
  })
}

/**
 * Brings the zone of a binding to its template, as a step of a change that holds both.
 * @param row with version 0 for one that is made with this
 */
export async function applied(
  tx: Tx,
  changer: Changer,
  template: KnownTemplate,
  zone: ZoneRow,
  row: BindingRow,
  given: Overriding & { variables: Values },
): Promise<Changed<AppliedView> & { events: NonNullable<Changed<AppliedView>['events']> }> {
  const isNew = row.version === 0
  const before = isNew ? null : bindingView(row, zone.name, template.contentVersion)
  const placed = isNew ? [] : await placedOf(tx, row.id)
  const application = await applicationOf(tx, {
    template,
    zone,
    host: row.host,
    variables: given.variables,
    before: isNew ? null : { bindingId: row.id, placed },
  })
  refuseConflicts(application.outcomes, zone)
  const allowed = allowing(application.reasons, given)
  const made = await changeZone(
    tx,
    changer,
    zone,
    allowed.includes('locked') ? application.wanted.map(unlocking) : application.wanted,
    {
      source: 'template',
      origin: 'template',
      note: given.note ?? null,
    },
  )
  const now = changer.hub.clock.now()
  const isSame =
    made.unchanged &&
    JSON.stringify(sorted(placed)) === JSON.stringify(sorted(application.placed)) &&
    isAlready(row, {
      variables: { ...given.variables },
      templateVersion: template.contentVersion,
      pending: false,
      edited: false,
      error: null,
    })
  if (isNew || !isSame) await keepPlaced(tx, row, application.placed)
  const [after] = await tx
    .update(dnsTemplateBindings)
    .set(
      isSame && !isNew
        ? { appliedAt: now }
        : {
            variables: { ...given.variables },
            templateVersion: template.contentVersion,
            pending: false,
            edited: false,
            error: null,
            appliedAt: now,
            version: row.version + 1,
            updatedAt: now,
          },
    )
    .where(eq(dnsTemplateBindings.id, row.id))
    .returning()
  const view = bindingView(after!, zone.name, template.contentVersion)
  const told = { serial: made.zone.serial, ...countsOf(made.changes) }
  return {
    result: {
      ...view,
      ...told,
      records: application.outcomes.map(outcomeView),
      changes: application.ops,
      warnings: application.warnings,
    },
    target: [bindingTarget(row), templateTarget(template), zoneTarget(zone)],
    before,
    after: { ...view, ...told, ...(allowed.length > 0 && { allowed }) },
    reason: given.note ?? null,
    unchanged: isSame && !isNew,
    events: made.events,
    wakes: made.wakes,
    jobs: made.jobs,
  }
}

async function keepPlaced(tx: Tx, row: BindingRow, placed: readonly PlacedRrset[]): Promise<void> {
  await tx.delete(dnsTemplateRrsets).where(eq(dnsTemplateRrsets.bindingId, row.id))
  if (placed.length === 0) return
  await tx
    .insert(dnsTemplateRrsets)
    .values(placed.map(one => ({ bindingId: row.id, zoneId: row.zoneId, name: one.name, type: one.type, placed: one })))
}

const sorted = (placed: readonly PlacedRrset[]): PlacedRrset[] =>
  placed.toSorted((a, b) => (`${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1))
