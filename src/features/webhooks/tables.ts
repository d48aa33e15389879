import { sql } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import type { EventKind } from '../../core/events'

export const endpointStates = ['enabled', 'disabled'] as const

/** Whether an endpoint's deliveries about one resource wait for each other. */
export const orderings = ['none', 'per_resource'] as const

export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    url: text('url').notNull(),
    description: text('description').notNull(),
    events: json<EventKind[]>('events').notNull(),
    // Ids of resources; null lets events about any of them through.
    resourceIds: json<string[] | null>('resource_ids'),
    active: flag('active').notNull(),
    status: text('status', { enum: ['enabled', 'disabled'] }).notNull(),
    disabledReason: text('disabled_reason'),
    secretSealed: text('secret_sealed').notNull(),
    secretHint: text('secret_hint').notNull(),
    // While a rotation overlaps: the secret to come, and when it alone is left. All three or none.
    nextSecretSealed: text('next_secret_sealed'),
    nextSecretHint: text('next_secret_hint'),
    rotatesAt: time('rotates_at'),
    // JSON of name and value, sealed as one; null when there are none.
    headersSealed: text('headers_sealed'),
    headerNames: json<string[]>('header_names').notNull(),
    // Seconds before each retry; null for the standard schedule.
    retrySchedule: json<number[] | null>('retry_schedule'),
    timeoutSeconds: int('timeout_seconds').notNull(),
    // Null sends as fast as the endpoint takes them.
    maxPerSecond: int('max_per_second'),
    // The moment (microseconds since 1970) until which turns under that limit are given out.
    pacedUntilUs: int('paced_until_us'),
    ordering: text('ordering', { enum: ['none', 'per_resource'] }).notNull(),
    // Both count tries that nobody asked for by hand, and a success sets both back.
    failedAttempts: int('failed_attempts').notNull(),
    goneInARow: int('gone_in_a_row').notNull(),
    // The breaker: tries in a row that the endpoint refused, how often in a row it opened, and until when. Null while it is closed;
    // in the past, it is half open.
    refusedInARow: int('refused_in_a_row').notNull(),
    breakerOpenings: int('breaker_openings').notNull(),
    breakerUntil: time('breaker_until'),
    // The first and the last failure of the run of failures that goes on, by the same count; null while there is none.
    failingSince: time('failing_since'),
    lastFailedAt: time('last_failed_at'),
    // After how many hours of it the workspace was last told.
    failingToldHours: int('failing_told_hours'),
    // To the minute, so that an endpoint that does well is not written at each success.
    lastSuccessAt: time('last_success_at'),
    // When it was last taken back into service.
    reopenedAt: time('reopened_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [index('webhook_endpoints_workspace').on(t.workspaceId, t.id), index('webhook_endpoints_failing').on(t.failingSince)],
)

export const deliveryStates = [
  'pending',
  'held',
  'in_flight',
  'retrying',
  'delivered',
  'exhausted',
  'cancelled',
  'expired',
] as const
export type DeliveryState = (typeof deliveryStates)[number]
/** States in which nothing more happens by itself. */
export const finalStates = ['delivered', 'exhausted', 'cancelled', 'expired'] as const satisfies readonly DeliveryState[]
export type FinalState = (typeof finalStates)[number]
export const isFinal = (status: DeliveryState): status is FinalState => finalStates.includes(status as never)
/** States out of which a recovery sends again: what was given up, what is kept back, and what waits for a retry. */
export const recoverableStates = ['exhausted', 'held', 'retrying'] as const satisfies readonly DeliveryState[]
export type RecoverableState = (typeof recoverableStates)[number]

export const webhookDeliveries = table(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // No reference: the log outlives the endpoint.
    endpointId: text('endpoint_id').notNull(),
    // Null for test messages, which have no event behind them.
    eventId: text('event_id'),
    messageId: text('message_id').notNull(),
    event: text('event').notNull(),
    resourceType: text('resource_type'),
    resourceId: text('resource_id'),
    sequence: int('sequence'),
    // The event's position, where the endpoint kept the order of its resource: it goes out after those with smaller ones.
    turn: int('turn'),
    occurredAt: time('occurred_at').notNull(),
    // Only test messages carry their own body; all others send the event's bytes.
    testBody: text('test_body'),
    status: text('status', { enum: [...deliveryStates] as [DeliveryState, ...DeliveryState[]] }).notNull(),
    reason: text('reason'),
    attemptCount: int('attempt_count').notNull(),
    // Of the last try; null while there was none, or where it got no answer.
    lastStatusCode: int('last_status_code'),
    lastErrorClass: text('last_error_class'),
    nextAttemptAt: time('next_attempt_at'),
    finishedAt: time('finished_at'),
    // Set while a delivery that had ended is sent again: not taken now, it goes back to that end.
    endedAs: json<{ status: FinalState; reason: string | null; finished_at: number | null } | null>('ended_as'),
    // When what was received for it was last removed.
    expungedAt: time('expunged_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    // One delivery an event and endpoint: dispatching twice adds nothing.
    uniqueIndex('webhook_deliveries_once').on(t.eventId, t.endpointId),
    index('webhook_deliveries_workspace').on(t.workspaceId, t.id),
    index('webhook_deliveries_endpoint').on(t.endpointId, t.id),
    index('webhook_deliveries_status').on(t.workspaceId, t.status, t.id),
    // The lines of endpoints that keep the order, and of those only what has not ended.
    index('webhook_deliveries_line')
      .on(t.endpointId, t.resourceId, t.turn)
      .where(sql`${t.turn} is not null and ${t.finishedAt} is null`),
  ],
)

/** Up to which position in its feed the events of a resource became deliveries. */
export const webhookDispatches = table(
  'webhook_dispatches',
  {
    workspaceId: text('workspace_id').notNull(),
    resourceId: text('resource_id').notNull(),
    position: int('position').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.resourceId] })],
)

/** Tries that workspaces with a limit a minute began within the last of them. */
export const webhookPaces = table('webhook_paces', {
  workspaceId: text('workspace_id')
    .primaryKey()
    .references(() => workspaces.id, { onDelete: 'cascade' }),
  // By the second they began in: [seconds since 1970, how many], ascending.
  begun: json<[number, number][]>('begun').notNull(),
})

/** What a try ends in when the receiver did not take the message. */
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
    // Without the body: every try of a delivery sends the same bytes, and the event has them.
    request: json<{ url: string; headers: Record<string, string> }>('request').notNull(),
    response: json<{ headers: Record<string, string>; body: string; body_truncated: boolean } | null>('response'),
    timings: json<Record<string, number | null>>('timings').notNull(),
  },
  t => [uniqueIndex('webhook_attempts_number').on(t.deliveryId, t.number)],
)
