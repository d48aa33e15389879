import { eq, sql } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { freeLanes, holdLane } from '../../core/jobs/lane-holds'
import { deliverKind } from './delivery-jobs'
import { laneOf } from './lanes'
import { forgetTries, refusesHalf } from './recent-tries'
import { webhookEndpoints } from './tables'

type Endpoint = typeof webhookEndpoints.$inferSelect

// Failures in a row that open a breaker.
const mostInARow = 5
const firstPauseMs = 30_000
const longestPauseMs = 15 * 60_000

/** How long an endpoint is left alone when its breaker opens for the `openings`th time in a row, in milliseconds. */
export const pauseOf = (openings: number): number => Math.min(firstPauseMs * 2 ** (openings - 1), longestPauseMs)

/**
 * Whether a failure says that the endpoint takes nothing at present: it gave no answer, asked for fewer requests, or has a fault of
 * its own. Any other answer is about the message, and others may fare better.
 */
export const isRefusal = ({ errorClass, statusCode }: { errorClass?: string | null; statusCode?: number | null }): boolean =>
  statusCode == null
    ? errorClass !== null && errorClass !== undefined && errorClass !== 'blocked_address'
    : statusCode === 429 || statusCode >= 500

/**
 * Counts a refusal against an endpoint; at the fifth in a row, or when half of the last twenty tries were refused, its breaker
 * opens: nothing is sent to it for a while, and then one delivery that finds out. What waits meanwhile uses up none of its tries.
 */
export async function countRefusal(tx: Tx, hub: Hub, endpointId: string): Promise<void> {
  const [endpoint] = await tx
    .update(webhookEndpoints)
    .set({ refusedInARow: sql`${webhookEndpoints.refusedInARow} + 1` })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning()
  if (!endpoint) return
  const now = hub.clock.now()
  // Tries that were under way when it opened end while it is open.
  if (endpoint.breakerUntil !== null && endpoint.breakerUntil > now) return
  const probed = endpoint.breakerUntil !== null
  if (!probed && endpoint.refusedInARow < mostInARow && !refusesHalf(hub, endpointId)) return
  const openings = endpoint.breakerOpenings + 1
  const until = now + pauseOf(openings)
  await tx
    .update(webhookEndpoints)
    .set({ breakerOpenings: openings, breakerUntil: until })
    .where(eq(webhookEndpoints.id, endpointId))
  await holdLane(tx, deliverKind, laneOf({ workspaceId: endpoint.workspaceId, endpointId }), until)
  forgetTries(hub, endpointId)
}

/** Closes an endpoint's breaker, if it is not closed: the endpoint answers again, or is to be tried afresh. */
export async function closeBreaker(tx: Tx, endpoint: Pick<Endpoint, 'id' | 'workspaceId'>): Promise<void> {
  await tx.update(webhookEndpoints).set(closed).where(eq(webhookEndpoints.id, endpoint.id))
  await freeLanes(tx, deliverKind, [laneOf({ workspaceId: endpoint.workspaceId, endpointId: endpoint.id })])
}

/** The members of a row whose breaker is closed and has nothing counted. */
export const closed = { refusedInARow: 0, breakerOpenings: 0, breakerUntil: null } as const

/** The breaker as the API shows it. Half open, it lets one delivery through to find out. */
export function breakerView(row: Pick<Endpoint, 'breakerUntil'>, now: number) {
  const { breakerUntil } = row
  if (breakerUntil === null) return { state: 'closed' as const, until: null }
  return breakerUntil > now
    ? { state: 'open' as const, until: instant(breakerUntil) }
    : { state: 'half_open' as const, until: null }
}
