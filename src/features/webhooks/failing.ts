import { and, asc, eq, gt, lte } from 'drizzle-orm'
import { record, type Recorded } from '../../core/change'
import { instant, minuteText } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { NoticeDraft, Severity } from '../../core/notices'
import { disable, shortened, verdict } from './disabling'
import { endpointTarget } from './endpoint-view'
import { heldStill } from './standing'
import { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

const hourMs = 3_600_000
/** After how many hours without a success the workspace is told, the last first. */
const marks: readonly { hours: number; span: string; severity: Severity }[] = [
  { hours: 72, span: '3 days', severity: 'critical' },
  { hours: 24, span: 'a day', severity: 'warning' },
  { hours: 1, span: 'an hour', severity: 'info' },
]
const lastToldMs = 14 * 24 * hourMs
const mostAtOnce = 500
const actor = 'webhooks.watch'

/**
 * Tells of endpoints that have failed for an hour, a day and three days without a success, and disables those that have for too
 * long. What was told is written in the row of the endpoint, which is held meanwhile: hubs that look at once tell once.
 */
export async function watchEndpoints(hub: Hub): Promise<void> {
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
      .limit(mostAtOnce)
    for (const row of failing) if (isDue(row, now)) await record(hub, tx => look(tx, hub, row.id))
    if (failing.length < mostAtOnce) return
    after = failing.at(-1)!.id
  }
}

const isDue = (endpoint: Endpoint, now: number): boolean => verdict(endpoint, now) !== null || markOf(endpoint, now) !== undefined

/** The mark that the endpoint has reached and its workspace was not told of. */
function markOf(endpoint: Endpoint, now: number) {
  if (endpoint.failingSince === null || !endpoint.active || endpoint.status === 'disabled') return undefined
  const span = now - endpoint.failingSince
  const mark = span > lastToldMs ? undefined : marks.find(one => span >= one.hours * hourMs)
  return mark && (endpoint.failingToldHours ?? 0) < mark.hours ? mark : undefined
}

async function look(tx: Tx, hub: Hub, id: string): Promise<Recorded<undefined>> {
  const endpoint = await heldStill(tx, id)
  if (!endpoint) return { result: undefined }
  const now = hub.clock.now()
  const reason = verdict(endpoint, now)
  if (reason) {
    const { audits, events, notices } = await disable(tx, hub, endpoint, reason, actor)
    return { result: undefined, audits, events, notices }
  }
  const mark = markOf(endpoint, now)
  if (!mark) return { result: undefined }
  await tx.update(webhookEndpoints).set({ failingToldHours: mark.hours }).where(eq(webhookEndpoints.id, id))
  return { result: undefined, notices: [failingNotice(endpoint, mark)] }
}

function failingNotice(endpoint: Endpoint, { hours, span, severity }: (typeof marks)[number]): NoticeDraft {
  const since = instant(endpoint.failingSince!)
  const tries = endpoint.failedAttempts === 1 ? 'One try has' : `${endpoint.failedAttempts} tries have`
  return {
    workspaceId: endpoint.workspaceId,
    kind: 'webhook_endpoint.failing',
    severity,
    resource: endpointTarget(endpoint),
    text:
      `${shortened(endpoint.url)} has taken no message for ${span}. ${tries} failed since ${minuteText(endpoint.failingSince!)}, and none has succeeded. ` +
      'After 5 days without a success it is disabled.',
    details: {
      failing_since: since,
      hours,
      failed_attempts: endpoint.failedAttempts,
      last_success_at: instant(endpoint.lastSuccessAt),
    },
    // One outage, one notice, which grows worse.
    matter: `${endpoint.id} ${endpoint.failingSince}`,
  }
}
