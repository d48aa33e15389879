import type { WebhookEndpointView } from '../../../features/webhooks/shapes'
import type { Mood } from '../../parts/status'

/** How an endpoint stands, for `Status`: paused by people, or disabled by the hub. */
export function stateOf(endpoint: WebhookEndpointView): { state: string; mood: Mood } {
  if (endpoint.status === 'disabled') return { state: 'disabled', mood: 'bad' }
  return endpoint.active ? { state: 'enabled', mood: 'ok' } : { state: 'paused', mood: 'idle' }
}

/** What a reason of the hub for disabling means. */
export const disabledBecause: Record<string, string> = {
  gone: 'It answered 410 Gone twice in a row.',
  failing: 'No message got there for 5 days.',
  plan_limit: 'The plan allows fewer endpoints.',
}

/** How a delivery stands. */
export const deliveryMood: Record<string, Mood> = {
  pending: 'busy',
  in_flight: 'busy',
  held: 'idle',
  retrying: 'warn',
  delivered: 'ok',
  exhausted: 'bad',
  cancelled: 'idle',
  expired: 'bad',
}
