import { target } from '../../../core/audit'
import { instant } from '../../../core/clock'
import { secretHintsOf } from '../../../core/outgoing/signing-secrets'
import { rowsOf } from '../../../registry'
import type { WebhookEndpointView } from './shapes'
import { webhookEndpoints } from './tables'

/**
 * An endpoint as the API returns it. Secrets are masked.
 * @param now ms UTC; the end of a rotation takes effect immediately
 */
export function endpointView(row: typeof webhookEndpoints.$inferSelect, now: number): WebhookEndpointView {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    filters: { resource_ids: row.resourceIds },
    active: row.active,
    status: row.status,
    disabled_reason: row.disabledReason,
    ...secretHintsOf(row, now),
    retry_schedule: row.retrySchedule,
    timeout_seconds: row.timeoutSeconds,
    max_per_second: row.maxPerSecond,
    ordering: row.ordering,
    header_names: row.headerNames,
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}

export const endpointRows = rowsOf('webhook_endpoint', webhookEndpoints, { label: 'url' })

/** An endpoint as the target of audit events and notices. */
export const endpointTarget = (row: Pick<typeof webhookEndpoints.$inferSelect, 'id' | 'url'>) =>
  target('webhook_endpoint', { id: row.id, name: row.url })
