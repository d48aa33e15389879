import { and, asc, eq, gt, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { instant, formatUtcMinute } from '../../../core/clock'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft, Severity } from '../../../core/notices'
import { disable, shortUrl, disableReasonFor } from './disable'
import { endpointTarget } from './view'
import { lockEndpoint } from '../sending/holds'
import { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

const hourMs = 3_600_000
/** After how many hours without a success a notice is sent, longest first. */
const noticeThresholds: readonly { hours: number; span: string; severity: Severity }[] = [
  { hours: 72, span: '3 days', severity: 'critical' },
  { hours: 24, span: 'a day', severity: 'warning' },
  { hours: 1, span: 'an hour', severity: 'info' },
]
const lastNoticeMs = 14 * 24 * hourMs
const batchSize = 500
const actor = 'webhooks.watch'

/**
 * Sends notices about endpoints that have been failing for an hour, a day and three days, and disables those that have been
 * failing for too long. Each notice is noted in the locked row of the endpoint, so that concurrent hubs send it only once.
 */
export async function checkFailingEndpoints(hub: Hub): Promise<void> {
  let after = ''
  for (;;) {
    const now = hub.clock.now()
    const failing = await hub.read
      .select()
      .from(webhookEndpoints)
      .where(
        and(
          gt(webhookEndpoints.id, after),
          eq(webhookEndpoints.status, 'enabled'),
          eq(webhookEndpoints.active, true),
          lte(webhookEndpoints.failingSince, now - hourMs),
        ),
      )
      .orderBy(asc(webhookEndpoints.id))
      .limit(batchSize)
    for (const row of failing) if (isDue(row, now)) await record(hub, tx => checkEndpoint(tx, hub, row.id))
    if (failing.length < batchSize) return
    after = failing.at(-1)!.id
  }
}

const isDue = (endpoint: Endpoint, now: number): boolean =>
  disableReasonFor(endpoint, now) !== null || dueThreshold(endpoint, now) !== undefined

/** The threshold that the endpoint has reached without a notice so far. */
function dueThreshold(endpoint: Endpoint, now: number) {
  if (endpoint.failingSince === null || !endpoint.active || endpoint.status === 'disabled') return undefined
  const span = now - endpoint.failingSince
  const threshold = span > lastNoticeMs ? undefined : noticeThresholds.find(one => span >= one.hours * hourMs)
  return threshold && (endpoint.failingNoticeHours ?? 0) < threshold.hours ? threshold : undefined
}

async function checkEndpoint(tx: Tx, hub: Hub, id: string): Promise<RecordResult<undefined>> {
  const endpoint = await lockEndpoint(tx, id)
  if (!endpoint) return { result: undefined }
  const now = hub.clock.now()
  const reason = disableReasonFor(endpoint, now)
  if (reason) {
    const { audits, events, notices } = await disable(tx, hub, endpoint, reason, actor)
    return { result: undefined, audits, events, notices }
  }
  const threshold = dueThreshold(endpoint, now)
  if (!threshold) return { result: undefined }
  await tx.update(webhookEndpoints).set({ failingNoticeHours: threshold.hours }).where(eq(webhookEndpoints.id, id))
  return { result: undefined, notices: [failingNotice(endpoint, threshold)] }
}

function failingNotice(endpoint: Endpoint, { hours, span, severity }: (typeof noticeThresholds)[number]): NoticeDraft {
  const since = instant(endpoint.failingSince!)
  const attempts = endpoint.failedAttempts === 1 ? 'One attempt has' : `${endpoint.failedAttempts} attempts have`
  return {
    workspaceId: endpoint.workspaceId,
    kind: 'webhook_endpoint.failing',
    severity,
    resource: endpointTarget(endpoint),
    text:
      `Deliveries to ${shortUrl(endpoint.url)} have been failing for ${span}. ${attempts} failed since ` +
      `${formatUtcMinute(endpoint.failingSince!)}, and none succeeded. After 5 days without a success, the endpoint is disabled.`,
    details: {
      failing_since_at: since,
      hours,
      failed_attempts: endpoint.failedAttempts,
      last_success_at: instant(endpoint.lastSuccessAt),
    },
    // One notice per outage, which is updated with a higher severity.
    dedupKey: `${endpoint.id} ${endpoint.failingSince}`,
  }
}
