import { target } from '../../core/audit'
import { instant } from '../../core/clock'
import { overlaps } from './live-secrets'
import type { WebhookEndpointView } from './shapes'
import type { webhookEndpoints } from './tables'

/**
 * An endpoint as the API shows it; its secrets only as hints.
 * @param now ms UTC: the end of an overlap shows at once
 */
export function endpointView(row: typeof webhookEndpoints.$inferSelect, now: number): WebhookEndpointView {
  const rotating = overlaps(row, now)
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    filters: { resource_ids: row.resourceIds },
    active: row.active,
    status: row.status,
    disabled_reason: row.disabledReason,
    secret_hint: rotating ? row.secretHint : (row.nextSecretHint ?? row.secretHint),
    next_secret_hint: rotating ? row.nextSecretHint : null,
    overlap_ends_at: rotating ? instant(row.rotatesAt) : null,
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

/** An endpoint as the audit log and notices name it. */
export const endpointTarget = (row: Pick<typeof webhookEndpoints.$inferSelect, 'id' | 'url'>) =>
  target('webhook_endpoint', { id: row.id, name: row.url })
