import { version } from '../../core/version'

/** A message to an endpoint, but for its body. */
export interface Message {
  id: string
  event: string
  deliveryId: string
  /** Counts from 1. */
  attempt: number
  workspaceId: string
  resource: { type: string; id: string } | null
  sequence: number | null
  /** RFC 3339. */
  occurredAt: string
  isTest: boolean
}

/** All that is said of a message outside its body. `X-Service-Resource` is `<type>/<id>`, such as `heartbeat/hb_…`. */
export function describeMessage(message: Message, timestampSeconds: number): Record<string, string> {
  const { resource, sequence } = message
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': `Bailiwick-Webhooks/${version}`,
    'X-Service-Event': message.event,
    'X-Service-Timestamp': String(timestampSeconds),
    'X-Service-Delivery': message.deliveryId,
    'X-Service-Attempt': String(message.attempt),
    'X-Service-Workspace': message.workspaceId,
    ...(resource && { 'X-Service-Resource': `${resource.type}/${resource.id}` }),
    ...(sequence !== null && { 'X-Service-Sequence': String(sequence) }),
    'X-Service-Occurred-At': message.occurredAt,
    ...(message.isTest && { 'X-Service-Test': '1' }),
    'webhook-id': message.id,
    'webhook-timestamp': String(timestampSeconds),
  }
}
