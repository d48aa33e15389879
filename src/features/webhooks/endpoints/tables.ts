import { resourceColumns } from '../../../access/tables'
import { int, json, text, time } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { secretColumns } from '../../../core/outgoing/secret-columns'
import { endpointMembers, endpointStates } from './shapes'

export const webhookEndpoints = table(
  'webhook_endpoints',
  {
    ...resourceColumns(),
    ...memberColumns(endpointMembers),
    // Resource IDs to filter by; null for all.
    resourceIds: json<string[] | null>('resource_ids'),
    status: text('status', { enum: [...endpointStates] }).notNull(),
    disabledReason: text('disabled_reason'),
    ...secretColumns(),
    // Encrypted JSON object of names and values; null if there are none.
    headersSealed: text('headers_sealed'),
    headerNames: json<string[]>('header_names').notNull(),
    // Until when slots of `maxPerSecond` are reserved, in microseconds since 1970.
    rateReservedUntilUs: int('rate_reserved_until_us'),
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
