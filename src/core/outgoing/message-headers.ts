import { version } from '../version'

/** A message, without its body. */
export interface Message {
  id: string
  event: string
  deliveryId?: string
  /** Counts from 1. */
  attempt: number
  workspaceId: string
  resource: { type: string; id: string } | null
  sequence?: number | null
  /** RFC 3339. */
  occurredAt?: string
  isTest: boolean
}

/** The headers of a message, without signatures. `X-Service-Resource` is `<type>/<id>`, such as `heartbeat/hb_…`. */
export function describeMessage(message: Message, timestampSeconds: number): Record<string, string> {
  const { deliveryId, resource, sequence = null, occurredAt } = message
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': `Bailiwick-Webhooks/${version}`,
    'X-Service-Event': message.event,
    'X-Service-Timestamp': String(timestampSeconds),
    ...(deliveryId !== undefined && { 'X-Service-Delivery': deliveryId }),
    'X-Service-Attempt': String(message.attempt),
    'X-Service-Workspace': message.workspaceId,
    ...(resource && { 'X-Service-Resource': `${resource.type}/${resource.id}` }),
    ...(sequence !== null && { 'X-Service-Sequence': String(sequence) }),
    ...(occurredAt !== undefined && { 'X-Service-Occurred-At': occurredAt }),
    ...(message.isTest && { 'X-Service-Test': '1' }),
    'webhook-id': message.id,
    'webhook-timestamp': String(timestampSeconds),
  }
}
