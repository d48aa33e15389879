import { and, asc, count, eq, gt, type SQL } from 'drizzle-orm'
import { planOf } from '../../../access/workspaces'
import { auditDrafts, change, jobContext, record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import type { ActionKind, Work } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import type { BlockCode } from '../plans/guards'
import type { Changer } from '../changes/change-zone'
import { lockZone } from '../zones/rows'
import { applyToZone } from './apply'
import { lockBinding, bindingView, type BindingRow } from './binding-rows'
import type { RolloutInput } from './binding-shapes'
import { dnsTemplateBindings as b } from './tables'
import { lockTemplate, templateOf, templateTarget } from './templates'
import { mergedValues } from './variables'

type RolloutOptions = { template_id: string; modified: 'skip' | 'restore'; allow: BlockCode[]; note: string | null }

/** Number of bindings by result. `problems` lists the first failures. */
type Counts = {
  matched: number
  applied: number
  unchanged: number
  modified: number
  failed: number
  problems: { binding_id: string; zone_id: string; code: string; detail: string }[]
}

/** `after` is the last binding that was processed. */
type State = { after: string; counts: Counts }

const maxProblems = 50
const maxDetailLength = 300
// The action reports progress and can be canceled between batches.
const batchSize = 20

/**
 * Starts updating all zones linked to a template to its latest version, each independently.
 * @throws Problem 404, 409 `resource_locked` while a rollout of the template is running
 */
export async function rollOut(ctx: Ctx, id: string, input: RolloutInput): Promise<ActionView> {
  return await change(ctx, rolloutAction.audit, async tx => {
    const template = await templateOf(tx, ctx, id)
    const [found] = await tx
      .select({ n: count() })
      .from(b)
      .where(linkedTo(ctx.workspaceId, id, ''))
    const result: Counts = { matched: found!.n, applied: 0, unchanged: 0, modified: 0, failed: 0, problems: [] }
    const { action, job } = await startAction(tx, ctx, rolloutAction, {
      resources: [{ type: 'dns_template', id }],
      input: { template_id: id, modified: input.modified ?? 'skip', allow: input.allow ?? [], note: input.note ?? null },
      result,
    })
    return { result: action, target: templateTarget(template), reason: input.note ?? null, jobs: [job] }
  })
}

export const rolloutAction: ActionKind<RolloutOptions, State> = {
  type: 'dns_template.roll_out',
  area: 'dns',
  audit: 'dns.template.roll_out',
  cancelable: true,
  // Bindings that are already up to date are left unchanged.
  resumable: true,
  concurrency: 2,
  leaseMs: 120_000,
  run: async (hub, work) => {
    const state = work.state ?? { after: '', counts: work.result as Counts }
    const counts = { ...state.counts, problems: [...state.counts.problems] }
    const rows = await hub.read
      .select()
      .from(b)
      .where(linkedTo(work.workspaceId, work.input.template_id, state.after))
      .orderBy(asc(b.id))
      .limit(batchSize)
    const changer = await changerOf(hub, work)
    for (const row of rows) {
      const outcome = await updateBinding(changer, work.input, row)
      if (outcome === 'deleted') continue
      if (typeof outcome === 'string') counts[outcome]++
      else {
        counts.failed++
        if (counts.problems.length < maxProblems) counts.problems.push(outcome)
      }
    }
    const done = counts.applied + counts.unchanged + counts.modified + counts.failed
    if (rows.length < batchSize) return async () => ({ result: { done: counts } })
    const progress = Math.min(99, (100 * done) / Math.max(1, counts.matched))
    return async () => ({ result: { state: { after: rows.at(-1)!.id, counts }, progress, result: counts } })
  },
}

const linkedTo = (workspaceId: string, templateId: string, after: string): SQL | undefined =>
  and(eq(b.workspaceId, workspaceId), eq(b.templateId, templateId), eq(b.mode, 'linked'), gt(b.id, after))

/** The actor that started the rollout, with the current plan limits. */
async function changerOf(hub: Hub, { workspaceId, actor }: Work<RolloutOptions, State>): Promise<Changer> {
  const { planId, limits } = await planOf(hub.read, workspaceId)
  return { hub, workspaceId, actor, context: jobContext, limits, planId }
}

type Outcome = 'applied' | 'unchanged' | 'modified' | 'deleted' | Counts['problems'][number]

/** Updates one binding in its own transaction. Stores the error with the binding if it fails. */
async function updateBinding(changer: Changer, options: RolloutOptions, { id, zoneId }: BindingRow): Promise<Outcome> {
  try {
    return await record<Outcome>(changer.hub, async tx => {
      const template = await lockTemplate(tx, changer, options.template_id)
      const zone = await lockZone(tx, changer, zoneId)
      const row = await lockBinding(tx, id)
      const { state } = bindingView(row, zone.name, template.contentVersion)
      if (state === 'current') return { result: 'unchanged' }
      if (row.modified && options.modified === 'skip') return { result: 'modified' }
      const done = await applyToZone(tx, changer, template, zone, row, {
        variables: mergedValues(template.content.variables, row.variables),
        allow: options.allow,
        ...(options.note !== null && { note: options.note }),
      })
      return {
        result: done.unchanged ? 'unchanged' : 'applied',
        audits: auditDrafts(changer, 'dns.template_binding.apply', done),
        events: done.events,
        jobs: done.jobs,
        wakeTopics: done.wakeTopics,
      }
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return await storeFailure(changer.hub, id, error)
  }
}

async function storeFailure(hub: Hub, id: string, { code, detail }: Problem): Promise<Outcome> {
  const problem = { code, detail: detail.slice(0, maxDetailLength) }
  return await record<Outcome>(hub, async tx => {
    const [row] = await tx.update(b).set({ error: problem, updatedAt: hub.clock.now() }).where(eq(b.id, id)).returning()
    return { result: row ? { binding_id: id, zone_id: row.zoneId, ...problem } : 'deleted' }
  })
}
