import { asc, eq } from 'drizzle-orm'
import { jobContext, systemActor, type Recorded } from '../../core/change'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { disable, shortened } from './disabling'
import { reopened } from './enable'
import { endpointTarget, endpointView } from './endpoint-view'
import type { Endpoint } from './endpoints'
import { holdForSwitchOnly, releaseJobFor } from './standing'
import { webhookEndpoints } from './tables'

type Told = Required<Pick<Recorded<unknown>, 'audits' | 'events' | 'jobs' | 'notices'>>

const actor = 'limits.compare'

/**
 * Keeps at most `max` endpoints of a workspace in service (null is all): takes the oldest that the plan kept out back into it where
 * there is room, and the newest out of it where there are too many and their time is up. The caller has the turn of this limit.
 */
export async function fitEndpoints(
  tx: Tx,
  hub: Hub,
  workspaceId: string,
  { max, timeIsUp }: { max: number | null; timeIsUp: boolean },
): Promise<Told> {
  const told: Told = { audits: [], events: [], jobs: [], notices: [] }
  const rows = await locking(
    tx.select().from(webhookEndpoints).where(eq(webhookEndpoints.workspaceId, workspaceId)).orderBy(asc(webhookEndpoints.id)),
  )
  const inService = rows.filter(row => row.status === 'enabled')
  const keptOut = rows.filter(row => row.disabledReason === 'plan_limit')
  const room = max === null ? keptOut.length : max - inService.length
  for (const row of keptOut.slice(0, Math.max(0, room))) await resume(tx, hub, row, told)
  if (room >= 0 || !timeIsUp) return told
  for (const row of inService.slice(room)) {
    const { audits, events, notices } = await disable(tx, hub, row, 'plan_limit', actor)
    told.audits.push(...audits)
    told.events.push(...events)
    told.notices.push(...notices)
  }
  return told
}

async function resume(tx: Tx, hub: Hub, row: Endpoint, told: Told): Promise<void> {
  const now = hub.clock.now()
  const [after] = await tx.update(webhookEndpoints).set(reopened(row, now)).where(eq(webhookEndpoints.id, row.id)).returning()
  await holdForSwitchOnly(tx, row, now)
  if (after!.active) told.jobs.push(releaseJobFor(after!))
  told.audits.push({
    workspaceId: row.workspaceId,
    action: 'webhooks.endpoint.enable',
    actor: systemActor(actor),
    context: jobContext,
    targets: [endpointTarget(row)],
    before: endpointView(row, now),
    after: endpointView(after!, now),
    reason: 'It is within the plan again.',
  })
  told.notices.push({
    workspaceId: row.workspaceId,
    kind: 'webhook_endpoint.resumed',
    resource: endpointTarget(row),
    text: `${shortened(row.url)} is within the plan again and in service. What was held for it is sent.`,
    details: { disabled_reason: row.disabledReason },
    matter: row.id,
  })
}
