import type { WebhookEndpointView } from '../../../features/webhooks/endpoints/shapes'
import type { Tone } from '../../parts/status'

/** Status of an endpoint: deactivated by a user, or disabled automatically. */
export function endpointStatus(endpoint: WebhookEndpointView): { status: string; tone: Tone } {
  if (endpoint.status === 'disabled') return { status: 'disabled', tone: 'bad' }
  return endpoint.active ? { status: 'enabled', tone: 'ok' } : { status: 'inactive', tone: 'idle' }
}

/** Text for each reason why an endpoint was disabled. */
export const disabledReasons: Record<string, string> = {
  gone: 'It responded with 410 Gone twice in a row.',
  failing: 'No delivery has succeeded for 5 days.',
  plan_limit: 'The plan allows fewer endpoints.',
}
