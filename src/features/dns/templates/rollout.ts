import { and, asc, count, eq, gt, type SQL } from 'drizzle-orm'
import { planOf } from '../../../access/workspaces'
import { auditDrafts, change, jobContext, record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import type { ActionKind, Work } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import type { BlockCode } from '../sync/guards'
import type { Changer } from '../zone-changes'
import { zoneHeld } from '../zone-rows'
import { applied } from './apply'
import { bindingHeld, bindingView, type BindingRow } from './binding-rows'
import type { RolloutInput } from './binding-shapes'
import { dnsTemplateBindings as b } from './tables'
import { templateKept, templateOf, templateTarget } from './templates'
import { mergedValues } from './variables'

type Wanted = { template_id: string; edited: 'skip' | 'restore'; allow: BlockCode[]; note: string | null }

/** What became of the bindings. `problems` are those of the first ones that failed. */
type Tally = {
  matched: number
  applied: number
  unchanged: number
  edited_away: number
  failed: number
  problems: { binding_id: string; zone_id: string; code: string; detail: string }[]
}

/** `after` is the last binding that was looked at. */
type State = { after: string; tally: Tally }

const mostProblems = 50
const longestDetail = 300
// What is done in one go: the action can be called off between two, and tells how far it is.
const bindingsAtOnce = 20

/**
 * Starts to bring all zones that are linked to a template to its newest version, each by itself.
 * @throws Problem 404, 409 `resource_locked` while it is rolled out already
 */
export async function rollOut(ctx: Ctx, id: string, input: RolloutInput): Promise<ActionView> {
  return await change(ctx, rolloutAction.audit, async tx => {
    const template = await templateOf(tx, ctx, id)
    const [found] = await tx
      .select({ n: count() })
      .from(b)
      .where(linkedTo(ctx.workspaceId, id, ''))
    const result: Tally = { matched: found!.n, applied: 0, unchanged: 0, edited_away: 0, failed: 0, problems: [] }
    const { action, job } = await startAction(tx, ctx, rolloutAction, {
      resources: [{ type: 'dns_template', id }],
      input: { template_id: id, edited: input.edited ?? 'skip', allow: input.allow ?? [], note: input.note ?? null },
      result,
    })
    return { result: action, target: templateTarget(template), reason: input.note ?? null, jobs: [job] }
  })
}

export const rolloutAction: ActionKind<Wanted, State> = {
  type: 'dns_template.roll_out',
  area: 'dns',
  audit: 'dns.template.roll_out',
  cancellable: true,
  // A binding that was brought to the newest version is found so and left.
  resumable: true,
  concurrency: 2,
  leaseMs: 120_000,
  run: async (hub, work) => {
    const state = work.state ?? { after: '', tally: work.result as Tally }
    const tally = { ...state.tally, problems: [...state.tally.problems] }
    const rows = await hub.read
      .select()
      .from(b)
      .where(linkedTo(work.workspaceId, work.input.template_id, state.after))
      .orderBy(asc(b.id))
      .limit(bindingsAtOnce)
    const changer = await changerOf(hub, work)
    for (const row of rows) {
      const outcome = await bring(changer, work.input, row)
      if (outcome === 'gone') continue
      if (typeof outcome === 'string') tally[outcome]++
      else {
        tally.failed++
        if (tally.problems.length < mostProblems) tally.problems.push(outcome)
      }
    }
    const done = tally.applied + tally.unchanged + tally.edited_away + tally.failed
    if (rows.length < bindingsAtOnce) return () => Promise.resolve({ result: { done: tally } })
    return () =>
      Promise.resolve({
        result: {
          state: { after: rows.at(-1)!.id, tally },
          progress: Math.min(99, (100 * done) / Math.max(1, tally.matched)),
          result: tally,
        },
      })
  },
}

const linkedTo = (workspaceId: string, templateId: string, after: string): SQL | undefined =>
  and(eq(b.workspaceId, workspaceId), eq(b.templateId, templateId), eq(b.mode, 'linked'), gt(b.id, after))

/** Whoever asked for it, under the limits that hold now. */
async function changerOf(hub: Hub, { workspaceId, actor }: Work<Wanted, State>): Promise<Changer> {
  const { planId, limits } = await planOf(hub.read, workspaceId)
  return { hub, workspaceId, actor, context: jobContext, limits, planId }
}

type Outcome = 'applied' | 'unchanged' | 'edited_away' | 'gone' | Tally['problems'][number]

/** Brings one binding to the newest version, in a transaction of its own; what stops it is kept with the binding. */
async function bring(changer: Changer, wanted: Wanted, { id, zoneId }: BindingRow): Promise<Outcome> {
  try {
    return await record<Outcome>(changer.hub, async tx => {
      const template = await templateKept(tx, changer, wanted.template_id)
      const zone = await zoneHeld(tx, changer, zoneId)
      const row = await bindingHeld(tx, id)
      const { state } = bindingView(row, zone.name, template.contentVersion)
      if (state === 'current') return { result: 'unchanged' }
      if (row.edited && wanted.edited === 'skip') return { result: 'edited_away' }
      const done = await applied(tx, changer, template, zone, row, {
        variables: mergedValues(template.content.variables, row.variables),
        allow: wanted.allow,
        ...(wanted.note !== null && { note: wanted.note }),
      })
      return {
        result: done.unchanged ? 'unchanged' : 'applied',
        audits: auditDrafts(changer, 'dns.template_binding.apply', done),
        events: done.events,
        jobs: done.jobs,
        wakes: done.wakes,
      }
    })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return await failed(changer.hub, id, error)
  }
}

async function failed(hub: Hub, id: string, { code, detail }: Problem): Promise<Outcome> {
  const told = { code, detail: detail.slice(0, longestDetail) }
  return await record<Outcome>(hub, async tx => {
    const [row] = await tx.update(b).set({ error: told, updatedAt: hub.clock.now() }).where(eq(b.id, id)).returning()
    return { result: row ? { binding_id: id, zone_id: row.zoneId, ...told } : 'gone' }
  })
}
