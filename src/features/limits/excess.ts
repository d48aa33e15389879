import { and, asc, eq, gt } from 'drizzle-orm'
import { limitTable, type CountedLimit } from '../../access/limit-table'
import { countedResources, countOf, lockLimit, limitsChanged, limitsChangedKind, type LimitsChanged } from '../../access/plans'
import { workspaces } from '../../access/tables'
import { planOf } from '../../access/workspaces'
import { isOrAre, pluralize } from '../../core/pluralize'
import { record } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { formatUtcMinute, instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import type { NoticeDraft } from '../../core/notices'
import { enforceEndpointLimit } from '../webhooks/endpoints/plan-limit'
import { planExcesses } from './tables'

type Outcome = Required<Pick<RecordResult<undefined>, 'audits' | 'events' | 'jobs' | 'notices'>>

/** How long endpoints over the limit stay enabled. */
const graceMs = 14 * 86_400_000

const workspacesAtOnce = 500

/** Compares usage with limits after a plan, the overrides of a workspace or its usage changed. */
export const compareLimitsJob: JobKind<LimitsChanged> = {
  kind: limitsChangedKind,
  concurrency: 2,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
  run:
    async (hub, { payload }) =>
    async tx =>
      'plan_id' in payload ? await fanOut(tx, payload) : { result: undefined, ...(await compare(tx, hub, payload.workspace_id)) },
}

/** Creates a job for each workspace of a plan, and one for the remaining workspaces. */
async function fanOut(tx: Tx, { plan_id, after }: { plan_id: string; after: string }): Promise<RecordResult<undefined>> {
  const rows = await tx
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(eq(workspaces.planId, plan_id), gt(workspaces.id, after)))
    .orderBy(asc(workspaces.id))
    .limit(workspacesAtOnce)
  const jobs = rows.map(row => limitsChanged({ workspace_id: row.id }))
  if (rows.length === workspacesAtOnce) jobs.push(limitsChanged({ plan_id, after: rows.at(-1)!.id }))
  return { result: undefined, jobs }
}

/** Checks the workspaces that exceed a limit: whether they still do, and whether their grace period is over. */
export async function watchExcesses(hub: Hub): Promise<void> {
  const above = await hub.read.selectDistinct({ workspaceId: planExcesses.workspaceId }).from(planExcesses)
  for (const { workspaceId } of above)
    await record(hub, async tx => ({ result: undefined, ...(await compare(tx, hub, workspaceId)) }))
}

/**
 * Updates the stored excesses of a workspace to its limits and usage. Idempotent, and deletes nothing. The workspace is notified
 * immediately; endpoints over the limit are disabled when the grace period is over.
 */
async function compare(tx: Tx, hub: Hub, workspaceId: string): Promise<Outcome> {
  const outcome: Outcome = { audits: [], events: [], jobs: [], notices: [] }
  for (const [limit, type] of countedResources) {
    await lockLimit(tx, limit, workspaceId)
    // Read after the lock is taken: its previous holder may have changed the plan.
    const { planId, limits } = await planOf(tx, workspaceId)
    const max = limits[limit]
    const of = and(eq(planExcesses.workspaceId, workspaceId), eq(planExcesses.limit, limit))
    const [known] = await tx.select().from(planExcesses).where(of)
    const used = max === null ? 0 : await countOf(tx, type, workspaceId)
    const now = hub.clock.now()
    const since = max === null || used <= max ? null : (known?.since ?? now)
    if (max !== null && since !== null) {
      if (!known) await tx.insert(planExcesses).values({ workspaceId, limit, max, since })
      else if (known.max !== max) await tx.update(planExcesses).set({ max }).where(of)
      if (!known || max < known.max) outcome.notices.push(excessNotice({ workspaceId, limit, max, used, since, planId }))
    } else if (known) await tx.delete(planExcesses).where(of)
    if (limit !== 'webhook_endpoints') continue
    const fitted = await enforceEndpointLimit(tx, hub, workspaceId, { max, timeIsUp: since !== null && now >= since + graceMs })
    outcome.audits.push(...fitted.audits)
    outcome.events.push(...fitted.events)
    outcome.jobs.push(...fitted.jobs)
    outcome.notices.push(...fitted.notices)
  }
  return outcome
}

function excessNotice(of: {
  workspaceId: string
  limit: CountedLimit
  max: number
  used: number
  since: number
  planId: string
}): NoticeDraft {
  const { workspaceId, limit, max, used, since, planId } = of
  const pausedFrom = limit === 'webhook_endpoints' ? instant(since + graceMs) : null
  const then =
    pausedFrom === null
      ? ''
      : ` On ${formatUtcMinute(since + graceMs)}, the newest ${used - max} will be disabled and their events held.`
  return {
    workspaceId,
    kind: 'plan.over_limit',
    resource: null,
    text:
      `${pluralize(used, limitTable[limit].noun)} ${isOrAre(used)} in use, but the plan allows ${max}. ` +
      `Existing resources are kept, but you can’t create new ones.${then}`,
    details: { limit, max, used, plan: planId, paused_from: pausedFrom },
    dedupKey: limit,
  }
}
