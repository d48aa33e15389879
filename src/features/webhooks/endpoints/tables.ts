import { resourceColumns } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import type { EventKind } from '../../../core/event-kinds'
import { secretColumns } from '../../../core/outgoing/secret-columns'

export const endpointStates = ['enabled', 'disabled'] as const

/** Whether deliveries about the same resource are sent in order. */
export const orderings = ['none', 'per_resource'] as const

export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    ...resourceColumns(),
    url: text('url').notNull(),
    description: text('description').notNull(),
    events: json<EventKind[]>('events').notNull(),
    // Resource IDs to filter by; null for all.
    resourceIds: json<string[] | null>('resource_ids'),
    active: flag('active').notNull(),
    status: text('status', { enum: ['enabled', 'disabled'] }).notNull(),
    disabledReason: text('disabled_reason'),
    ...secretColumns(),
    // Encrypted JSON object of names and values; null if there are none.
    headersSealed: text('headers_sealed'),
    headerNames: json<string[]>('header_names').notNull(),
    // Seconds before each retry; null for the standard schedule.
    retrySchedule: json<number[] | null>('retry_schedule'),
    timeoutSeconds: int('timeout_seconds').notNull(),
    // Null for no limit.
    maxPerSecond: int('max_per_second'),
    // Until when slots of that limit are reserved, in microseconds since 1970.
    rateReservedUntilUs: int('rate_reserved_until_us'),
    ordering: text('ordering', { enum: ['none', 'per_resource'] }).notNull(),
    // Both count scheduled attempts only, and are reset by a success.
    failedAttempts: int('failed_attempts').notNull(),
    consecutiveGone: int('consecutive_gone').notNull(),
    // The breaker: consecutive failures, how often in a row it opened, and until when it is open. `breakerUntil` is null while
    // closed, and in the past while half open.
    consecutiveFailures: int('consecutive_failures').notNull(),
    breakerOpenings: int('breaker_openings').notNull(),
    breakerUntil: time('breaker_until'),
    // First and last failure since the last success; null if there was none.
    failingSince: time('failing_since'),
    lastFailedAt: time('last_failed_at'),
    // Threshold in hours of the last notice about these failures.
    failingNoticeHours: int('failing_notice_hours'),
    // Accurate to the minute, so that the row is not updated at every success.
    lastSuccessAt: time('last_success_at'),
    // When the endpoint was last re-enabled.
    reenabledAt: time('reenabled_at'),
  },
  t => [index('webhook_endpoints_workspace').on(t.workspaceId, t.id), index('webhook_endpoints_failing').on(t.failingSince)],
)
