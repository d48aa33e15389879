import { target } from '../../../core/audit'
import { editableView, memberView } from '../../../core/members'
import { secretHintsOf } from '../../../core/outgoing/signing-secrets'
import { rowsOf } from '../../../registry'
import { endpointMembers, type WebhookEndpointView } from './shapes'
import { webhookEndpoints } from './tables'

/** Whether the latest deliveries of an active endpoint all failed. The filter `failing` finds the same endpoints. */
export const isFailing = ({ status, active, failingSince }: typeof webhookEndpoints.$inferSelect): boolean =>
  status === 'enabled' && active && failingSince !== null

/**
 * An endpoint as the API returns it. Secrets are masked.
 * @param now ms UTC; the end of a rotation takes effect immediately
 */
export function endpointView(row: typeof webhookEndpoints.$inferSelect, now: number): WebhookEndpointView {
  return {
    id: row.id,
    ...memberView(endpointMembers, row),
    filters: { resource_ids: row.resourceIds },
    status: row.status,
    disabled_reason: row.disabledReason,
    failing: isFailing(row),
    ...secretHintsOf(row, now),
    header_names: row.headerNames,
    ...editableView(row),
  }
}

export const endpointRows = rowsOf('webhook_endpoint', webhookEndpoints, { label: 'url' })

/** An endpoint as the target of audit events and notices. */
export const endpointTarget = (row: Pick<typeof webhookEndpoints.$inferSelect, 'id' | 'url'>) =>
  target('webhook_endpoint', { id: row.id, name: row.url })
