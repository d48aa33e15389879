import { and, asc, eq, gt } from 'drizzle-orm'
import { limitsChanged, limitsChangedKind, type LimitsChanged } from '../../access/limit-changes'
import { takeTurns } from '../../access/plans'
import { workspaces, type PlanLimits } from '../../access/tables'
import { countTokens } from '../../access/tokens'
import { planOf } from '../../access/workspaces'
import { isOrAre, numbered } from '../../core/numbered'
import { record, type Recorded } from '../../core/change'
import { instant } from '../../core/clock'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import type { NoticeDraft } from '../../core/notices'
import { countZones } from '../dns/zones'
import { countHeartbeats } from '../heartbeats/heartbeats'
import { countMonitors } from '../monitors/count'
import { countEndpoints } from '../webhooks/endpoints'
import { fitEndpoints } from '../webhooks/plan-pause'
import { planExcesses } from './tables'

type Told = Required<Pick<Recorded<undefined>, 'audits' | 'events' | 'jobs' | 'notices'>>

/** How long endpoints above the limit stay in service (platform.md S7). */
const graceMs = 14 * 86_400_000

const counts = {
  tokens: countTokens,
  heartbeats: countHeartbeats,
  monitors: countMonitors,
  dns_zones: countZones,
  webhook_endpoints: countEndpoints,
} as const satisfies Partial<Record<keyof PlanLimits, (read: Reader, workspaceId: string) => Promise<number>>>
type Counted = keyof typeof counts
const counted = Object.keys(counts) as Counted[]

const workspacesAtOnce = 500

/** Compares use with limits after a plan, the overrides of a workspace or its use changed. */
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

/** A job for each workspace of a plan, and one for the workspaces that are left. */
async function fanOut(tx: Tx, { plan_id, after }: { plan_id: string; after: string }): Promise<Recorded<undefined>> {
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

/** Looks at the workspaces that are above a limit: whether they still are, and whose time is up. */
export async function watchExcesses(hub: Hub): Promise<void> {
  const above = await hub.read.selectDistinct({ workspaceId: planExcesses.workspaceId }).from(planExcesses)
  for (const { workspaceId } of above)
    await record(hub, async tx => ({ result: undefined, ...(await compare(tx, hub, workspaceId)) }))
}

/**
 * Makes what is written down of a workspace agree with its limits and its use: whoever runs this twice does nothing the second time.
 * Nothing is deleted. The workspace is told at once; endpoints above the limit leave service when their time is up.
 */
async function compare(tx: Tx, hub: Hub, workspaceId: string): Promise<Told> {
  const told: Told = { audits: [], events: [], jobs: [], notices: [] }
  for (const limit of counted) {
    await takeTurns(tx, limit, workspaceId)
    // Read in the turn: whoever had it before may have changed what there is to compare.
    const { planId, limits } = await planOf(tx, workspaceId)
    const max = limits[limit]
    const of = and(eq(planExcesses.workspaceId, workspaceId), eq(planExcesses.limit, limit))
    const [known] = await tx.select().from(planExcesses).where(of)
    const used = max === null ? 0 : await counts[limit](tx, workspaceId)
    const now = hub.clock.now()
    const since = max === null || used <= max ? null : (known?.since ?? now)
    if (max !== null && since !== null) {
      if (!known) await tx.insert(planExcesses).values({ workspaceId, limit, max, since })
      else if (known.max !== max) await tx.update(planExcesses).set({ max }).where(of)
      if (!known || max < known.max) told.notices.push(excessNotice({ workspaceId, limit, max, used, since, planId }))
    } else if (known) await tx.delete(planExcesses).where(of)
    if (limit !== 'webhook_endpoints') continue
    const fitted = await fitEndpoints(tx, hub, workspaceId, { max, timeIsUp: since !== null && now >= since + graceMs })
    told.audits.push(...fitted.audits)
    told.events.push(...fitted.events)
    told.jobs.push(...fitted.jobs)
    told.notices.push(...fitted.notices)
  }
  return told
}

function excessNotice(of: {
  workspaceId: string
  limit: Counted
  max: number
  used: number
  since: number
  planId: string
}): NoticeDraft {
  const { workspaceId, limit, max, used, since, planId } = of
  const pausedFrom = limit === 'webhook_endpoints' ? instant(since + graceMs) : null
  const what = limit.replaceAll('_', ' ')
  const then =
    pausedFrom === null
      ? ''
      : ` From ${pausedFrom} on the newest ${used - max} are taken out of service, and what happens is held for them.`
  return {
    workspaceId,
    kind: 'plan.over_limit',
    resource: null,
    text: `${numbered(used, what)} ${isOrAre(used)} in use, and the plan allows ${max}. Nothing is deleted, and no more can be made.${then}`,
    details: { limit, max, used, plan: planId, paused_from: pausedFrom },
    matter: limit,
  }
}
