import { count, eq } from 'drizzle-orm'
import { change, isUnchanged } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { requireMatch } from '../../../core/if-match'
import { conflict } from '../../../core/problem'
import { insertRow, refuseDuplicate } from '../../../core/rows'
import { parseField } from '../records/parse-field'
import { requireAllowed } from '../plans/require-allowed'
import type { BlockCode } from '../plans/guards'
import { ignoringLock } from '../plans/plans'
import { changeZone, summaryOf, type Changer } from '../changes/change-zone'
import type { ZoneRow } from '../zones/rows'
import { recordNameOf } from '../zones/names'
import { zoneTarget } from '../zones/zones'
import { planApplication, outcomeView, refuseConflicts } from './application'
import { bindingRows, bindingView, type BindingRow } from './binding-rows'
import type { ApplyResultView, ApplyInput, BindingApplyInput } from './binding-shapes'
import type { Values } from './content'
import { bindingTarget, lockBindingWithZone, lockAccessibleZone } from './lock-binding'
import { placedOf } from './track-modifications'
import type { PlacedRrset } from './placed-rrsets'
import { dnsTemplateBindings, dnsTemplateRrsets } from './tables'
import { lockTemplate, templateTarget, type KnownTemplate } from './templates'
import { mergedValues } from './variables'

const maxBindings = 500

/** How a caller overrides the reasons that block a change. */
type Overriding = { allow?: readonly BlockCode[]; note?: string }

/**
 * Applies a template to a zone, atomically, and creates a binding.
 * @throws Problem 404, 422, 403 `plan_limit_reached`; 409 `conflict`, `plan_blocked`, `already_exists` if already linked there
 */
export async function applyTemplate(ctx: Ctx, id: string, input: ApplyInput): Promise<ApplyResultView> {
  return await refuseDuplicate('The template is already linked to this name. Apply that binding or update its variables.', () =>
    change(ctx, 'dns.template.apply', async tx => {
      const template = await lockTemplate(tx, ctx, id)
      const zone = await lockAccessibleZone(tx, ctx, input.zone_id)
      const host = parseField('#/host', () => recordNameOf(input.host ?? '@', zone.name))
      const [existing] = await tx.select({ n: count() }).from(dnsTemplateBindings).where(eq(dnsTemplateBindings.zoneId, zone.id))
      if (existing!.n >= maxBindings) throw conflict(`A zone can have at most ${maxBindings} template bindings.`)
      const variables = input.variables ?? {}
      const row = await insertRow(tx, ctx, bindingRows, {
        templateId: id,
        zoneId: zone.id,
        host,
        mode: input.mode ?? 'once',
        ...appliedColumns(template, variables),
        appliedAt: ctx.hub.clock.now(),
      })
      return await applyToZone(tx, ctx, template, zone, row, { ...input, variables, isNew: true })
    }),
  )
}

/**
 * Updates a zone to the latest version of the template and reverts manual edits.
 * @throws Problem 404, 412, 422, 403 `plan_limit_reached`; 409 `conflict`, `plan_blocked`
 */
export async function applyBinding(ctx: Ctx, id: string, input: BindingApplyInput): Promise<ApplyResultView> {
  return await change(ctx, 'dns.template_binding.apply', async tx => {
    const { template, zone, row } = await lockBindingWithZone(tx, ctx, id)
    requireMatch(ctx, row)
    const variables = mergedValues(template.content.variables, row.variables, input.variables)
    return await applyToZone(tx, ctx, template, zone, row, { ...input, variables })
  })
}

/**
 * Applies the template of a binding to its zone, within a transaction that has locked both.
 * @param input.isNew the binding was created in the same transaction
 */
export async function applyToZone(
  tx: Tx,
  changer: Changer,
  template: KnownTemplate,
  zone: ZoneRow,
  row: BindingRow,
  { isNew = false, ...input }: Overriding & { variables: Values; isNew?: boolean },
): Promise<ChangeResult<ApplyResultView> & { events: NonNullable<ChangeResult<ApplyResultView>['events']> }> {
  const before = isNew ? null : bindingView(row, zone.name, template.contentVersion)
  const placed = isNew ? [] : await placedOf(tx, row.id)
  const application = await planApplication(tx, {
    template,
    zone,
    host: row.host,
    variables: input.variables,
    before: isNew ? null : { bindingId: row.id, placed },
  })
  refuseConflicts(application.outcomes, zone)
  const allowed = requireAllowed(application.reasons, input)
  const wanted = allowed.includes('locked') ? application.wanted.map(ignoringLock) : application.wanted
  const by = { source: 'template', origin: 'template', note: input.note ?? null } as const
  const result = await changeZone(tx, changer, zone, wanted, by)
  const columns = appliedColumns(template, input.variables)
  const isSame =
    !isNew &&
    result.unchanged &&
    JSON.stringify(sorted(placed)) === JSON.stringify(sorted(application.placed)) &&
    isUnchanged(row, columns)
  if (!isSame) await storePlaced(tx, row, application.placed)
  const after = isNew ? row : await markApplied(tx, changer, row, isSame ? {} : columns)
  const view = bindingView(after, zone.name, template.contentVersion)
  const summary = summaryOf(result)
  return {
    result: {
      ...view,
      ...summary,
      records: application.outcomes.map(outcomeView),
      changes: application.ops,
      warnings: application.warnings,
    },
    target: [bindingTarget(row), templateTarget(template), zoneTarget(zone)],
    before,
    after: { ...view, ...summary, ...(allowed.length > 0 && { allowed }) },
    reason: input.note ?? null,
    unchanged: isSame,
    ...result.effects,
  }
}

/** Columns of a binding that was just applied. */
const appliedColumns = ({ contentVersion }: KnownTemplate, variables: Values) => ({
  variables: { ...variables },
  templateVersion: contentVersion,
  pending: false,
  modified: false,
  error: null,
})

/** Saves a new version of a binding if any columns are given. */
async function markApplied(tx: Tx, { hub }: Changer, row: BindingRow, columns: Partial<BindingRow>): Promise<BindingRow> {
  const now = hub.clock.now()
  const version = Object.keys(columns).length > 0 && { version: row.version + 1, updatedAt: now }
  const [after] = await tx
    .update(dnsTemplateBindings)
    .set({ ...columns, ...version, appliedAt: now })
    .where(eq(dnsTemplateBindings.id, row.id))
    .returning()
  return after!
}

async function storePlaced(tx: Tx, row: BindingRow, placed: readonly PlacedRrset[]): Promise<void> {
  await tx.delete(dnsTemplateRrsets).where(eq(dnsTemplateRrsets.bindingId, row.id))
  if (placed.length === 0) return
  await tx
    .insert(dnsTemplateRrsets)
    .values(placed.map(one => ({ bindingId: row.id, zoneId: row.zoneId, name: one.name, type: one.type, placed: one })))
}

const sorted = (placed: readonly PlacedRrset[]): PlacedRrset[] =>
  placed.toSorted((a, b) => (`${a.name} ${a.type}` < `${b.name} ${b.type}` ? -1 : 1))
