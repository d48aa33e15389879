import { eq, sql } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { releaseLanes, holdLane } from '../../../core/jobs/lane-holds'
import { deliverKind } from './delivery-jobs'
import { endpointLane } from './lanes'
import { resetRecentAttempts, failsHalf } from './recent-attempts'
import { webhookEndpoints } from '../endpoints/tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

// Consecutive failures that open a breaker.
const maxConsecutiveFailures = 5
const firstPauseMs = 30_000
const maxPauseMs = 15 * 60_000

/** How long a breaker stays open when it opens for the `openings`th time in a row, in milliseconds. */
const breakerPauseMs = (openings: number): number => Math.min(firstPauseMs * 2 ** (openings - 1), maxPauseMs)

/**
 * Whether a failure counts towards opening the breaker: no response, 429, or a 5xx status. Other statuses are about the message,
 * and other messages may succeed.
 */
export const countsForBreaker = ({
  errorClass,
  statusCode,
}: {
  errorClass?: string | null
  statusCode?: number | null
}): boolean =>
  statusCode == null
    ? errorClass !== null && errorClass !== undefined && errorClass !== 'blocked_address'
    : statusCode === 429 || statusCode >= 500

/**
 * Counts a failure of an endpoint. The breaker opens after five in a row, or if half of the last twenty attempts failed: sending
 * is suspended for a while, and then one delivery probes the endpoint. Waiting deliveries don't use up attempts.
 */
export async function countFailure(tx: Tx, hub: Hub, endpointId: string): Promise<void> {
  const [endpoint] = await tx
    .update(webhookEndpoints)
    .set({ consecutiveFailures: sql`${webhookEndpoints.consecutiveFailures} + 1` })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning()
  if (!endpoint) return
  const now = hub.clock.now()
  // Attempts that were in flight when the breaker opened finish while it is open.
  if (endpoint.breakerUntil !== null && endpoint.breakerUntil > now) return
  const halfOpen = endpoint.breakerUntil !== null
  if (!halfOpen && endpoint.consecutiveFailures < maxConsecutiveFailures && !failsHalf(hub, endpointId)) return
  const openings = endpoint.breakerOpenings + 1
  const until = now + breakerPauseMs(openings)
  await tx
    .update(webhookEndpoints)
    .set({ breakerOpenings: openings, breakerUntil: until })
    .where(eq(webhookEndpoints.id, endpointId))
  await holdLane(tx, deliverKind, endpointLane({ workspaceId: endpoint.workspaceId, endpointId }), until)
  resetRecentAttempts(hub, endpointId)
}

/** Closes the breaker of an endpoint, because it works again or should be tried again. */
export async function closeBreaker(tx: Tx, endpoint: Pick<Endpoint, 'id' | 'workspaceId'>): Promise<void> {
  await tx.update(webhookEndpoints).set(closedBreaker).where(eq(webhookEndpoints.id, endpoint.id))
  await releaseLanes(tx, deliverKind, [endpointLane({ workspaceId: endpoint.workspaceId, endpointId: endpoint.id })])
}

/** Columns of a closed breaker without failures. */
export const closedBreaker = { consecutiveFailures: 0, breakerOpenings: 0, breakerUntil: null } as const

/** The breaker as the API returns it. While half open, it lets one delivery through to probe the endpoint. */
export function breakerView(row: Pick<Endpoint, 'breakerUntil'>, now: number) {
  const { breakerUntil } = row
  if (breakerUntil === null) return { state: 'closed' as const, half_open_at: null }
  return breakerUntil > now
    ? { state: 'open' as const, half_open_at: instant(breakerUntil) }
    : { state: 'half_open' as const, half_open_at: null }
}
