import type { WebhookEndpointView } from '../../../features/webhooks/endpoints/shapes'
import type { Query } from '../../client'
import { Status } from '../../parts/status'

/** Status of an endpoint: deactivated by a user, disabled automatically, or whether it works. */
function statusOf({ status, active, failing }: WebhookEndpointView): keyof typeof endpointStatuses {
  if (status === 'disabled') return 'disabled'
  if (!active) return 'inactive'
  return failing ? 'failing' : 'enabled'
}

export const endpointStatuses = {
  enabled: 'Enabled',
  failing: 'Failing',
  inactive: 'Inactive',
  disabled: 'Disabled automatically',
}

export function EndpointStatus({ endpoint }: { endpoint: WebhookEndpointView }) {
  const status = statusOf(endpoint)
  return <Status status={status} label={endpointStatuses[status].toLowerCase()} />
}

/** Filters of the API that find the endpoints with a status. */
export const statusQueries: Record<string, Query> = {
  enabled: { status: 'enabled', active: true, failing: false },
  failing: { failing: true },
  inactive: { status: 'enabled', active: false },
  disabled: { status: 'disabled' },
}

/** Text for each reason why an endpoint was disabled. */
export const disabledReasons: Record<string, string> = {
  gone: 'It responded with 410 Gone twice in a row.',
  failing: 'No delivery has succeeded for 5 days.',
  plan_limit: 'The plan allows fewer endpoints.',
}
