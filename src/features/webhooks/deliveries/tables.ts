import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { int, json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'

export const deliveryStates = [
  'pending',
  'held',
  'in_flight',
  'retrying',
  'delivered',
  'exhausted',
  'canceled',
  'expired',
] as const
export type DeliveryState = (typeof deliveryStates)[number]
/** Statuses in which nothing more happens automatically. */
const finalStates = ['delivered', 'exhausted', 'canceled', 'expired'] as const satisfies readonly DeliveryState[]
export type FinalState = (typeof finalStates)[number]
export const isFinal = (status: DeliveryState): status is FinalState => finalStates.includes(status as never)
/** Statuses that a recovery resends. */
export const recoverableStates = ['exhausted', 'held', 'retrying'] as const satisfies readonly DeliveryState[]
export type RecoverableState = (typeof recoverableStates)[number]

export const webhookDeliveries = table(
  'webhook_deliveries',
  {
    ...resourceColumns(),
    // Not a foreign key: the log outlives the endpoint.
    endpointId: text('endpoint_id').notNull(),
    // Null for test messages, which have no event.
    eventId: text('event_id'),
    messageId: text('message_id').notNull(),
    event: text('event').notNull(),
    resourceType: text('resource_type'),
    resourceId: text('resource_id'),
    sequence: int('sequence'),
    // Position of the event if the endpoint is ordered: sent after the deliveries of the resource with lower positions.
    orderPosition: int('order_position'),
    occurredAt: time('occurred_at').notNull(),
    // Only for test messages; others send the body of the event.
    testBody: text('test_body'),
    status: text('status', { enum: [...deliveryStates] as [DeliveryState, ...DeliveryState[]] }).notNull(),
    reason: text('reason'),
    attemptCount: int('attempt_count').notNull(),
    // Of the last attempt; null if there was none or it got no response.
    lastStatusCode: int('last_status_code'),
    lastErrorClass: text('last_error_class'),
    nextAttemptAt: time('next_attempt_at'),
    finishedAt: time('finished_at'),
    // Set while a finished delivery is resent: the final status to return to if that fails.
    endedAs: json<{ status: FinalState; reason: string | null; finished_at: number | null } | null>('ended_as'),
    // When the responses were last removed.
    expungedAt: time('expunged_at'),
  },
  t => [
    // One delivery per event and endpoint: dispatching twice adds nothing.
    uniqueIndex('webhook_deliveries_event_endpoint').on(t.eventId, t.endpointId),
    index('webhook_deliveries_workspace').on(t.workspaceId, t.id),
    index('webhook_deliveries_created').on(t.workspaceId, t.createdAt, t.id),
    index('webhook_deliveries_endpoint').on(t.endpointId, t.id),
    index('webhook_deliveries_status').on(t.workspaceId, t.status, t.id),
    // Queues of ordered endpoints: only unfinished deliveries.
    index('webhook_deliveries_line')
      .on(t.endpointId, t.resourceId, t.orderPosition)
      .where(sql`${t.orderPosition} is not null and ${t.finishedAt} is null`),
  ],
)

/** Error classes of failed attempts. */
export const errorClasses = [
  'dns',
  'blocked_address',
  'connect',
  'tls',
  'timeout',
  'http_status',
  'too_large',
  'aborted',
] as const

export const attemptTriggers = ['auto', 'manual', 'recovery', 'test'] as const
export type AttemptTrigger = (typeof attemptTriggers)[number]

export const webhookAttempts = table(
  'webhook_attempts',
  {
    id: text('id').primaryKey(),
    deliveryId: text('delivery_id')
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    number: int('number').notNull(),
    trigger: text('trigger', { enum: [...attemptTriggers] as [AttemptTrigger, ...AttemptTrigger[]] }).notNull(),
    startedAt: time('started_at').notNull(),
    durationMs: int('duration_ms').notNull(),
    statusCode: int('status_code'),
    errorClass: text('error_class'),
    errorMessage: text('error_message'),
    // Without the body, which is the same for all attempts and stored with the event.
    request: json<{ url: string; headers: Record<string, string> }>('request').notNull(),
    response: json<{ headers: Record<string, string>; body: string; body_truncated: boolean } | null>('response'),
    timings: json<Record<string, number | null>>('timings').notNull(),
  },
  t => [uniqueIndex('webhook_attempts_number').on(t.deliveryId, t.number)],
)
