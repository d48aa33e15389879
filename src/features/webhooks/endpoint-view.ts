import { instant } from '../../core/clock'
import type { WebhookEndpointView } from './shapes'
import type { webhookEndpoints } from './tables'

/** An endpoint as the API shows it; its secret only as a hint. */
export function endpointView(row: typeof webhookEndpoints.$inferSelect): WebhookEndpointView {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    active: row.active,
    status: row.status,
    disabled_reason: row.disabledReason,
    secret_hint: row.secretHint,
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}
