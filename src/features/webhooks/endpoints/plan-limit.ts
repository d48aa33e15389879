import { asc, eq } from 'drizzle-orm'
import { jobContext, systemActor } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { saveRow } from '../../../core/rows'
import { disable, shortUrl } from './disable'
import { reenabledColumns } from './enable'
import { endpointRows, endpointTarget, endpointView } from './view'
import type { Endpoint } from './endpoints'
import { markHeldAsInactive, releaseJobFor } from '../sending/holds'
import { webhookEndpoints } from './tables'

type Changes = Required<Pick<RecordResult<unknown>, 'audits' | 'events' | 'jobs' | 'notices'>>

const actor = 'limits.compare'

/**
 * Keeps at most `max` endpoints of a workspace enabled (null: no limit). Re-enables the oldest endpoints that the plan limit
 * disabled if the limit allows it, and disables the newest if there are too many and the grace period is over. The caller holds
 * the lock of this limit.
 */
export async function enforceEndpointLimit(
  tx: Tx,
  hub: Hub,
  workspaceId: string,
  { max, timeIsUp }: { max: number | null; timeIsUp: boolean },
): Promise<Changes> {
  const changes: Changes = { audits: [], events: [], jobs: [], notices: [] }
  const rows = await forUpdate(
    tx.select().from(webhookEndpoints).where(eq(webhookEndpoints.workspaceId, workspaceId)).orderBy(asc(webhookEndpoints.id)),
  )
  const enabled = rows.filter(row => row.status === 'enabled')
  const disabledByPlan = rows.filter(row => row.disabledReason === 'plan_limit')
  const free = max === null ? disabledByPlan.length : max - enabled.length
  for (const row of disabledByPlan.slice(0, Math.max(0, free))) await resume(tx, hub, row, changes)
  if (free >= 0 || !timeIsUp) return changes
  for (const row of enabled.slice(free)) {
    const { audits, events, notices } = await disable(tx, hub, row, 'plan_limit', actor)
    changes.audits.push(...audits)
    changes.events.push(...events)
    changes.notices.push(...notices)
  }
  return changes
}

async function resume(tx: Tx, hub: Hub, row: Endpoint, changes: Changes): Promise<void> {
  const now = hub.clock.now()
  const after = await saveRow(tx, { hub }, endpointRows, row, reenabledColumns(now))
  await markHeldAsInactive(tx, row, now)
  if (after.active) changes.jobs.push(releaseJobFor(after))
  changes.audits.push({
    workspaceId: row.workspaceId,
    action: 'webhooks.endpoint.enable',
    actor: systemActor(actor),
    context: jobContext,
    targets: [endpointTarget(row)],
    before: endpointView(row, now),
    after: endpointView(after, now),
    reason: 'The endpoint is within the plan limit again.',
  })
  changes.notices.push({
    workspaceId: row.workspaceId,
    kind: 'webhook_endpoint.resumed',
    resource: endpointTarget(row),
    text: `${shortUrl(row.url)} is within the plan limit again and was re-enabled. Held deliveries are being sent.`,
    details: { disabled_reason: row.disabledReason },
    dedupKey: row.id,
  })
}
