import { eq, sql, type SQL } from 'drizzle-orm'
import type { StoredPolicy } from '../../../access/network-policy'
import { suspendedRetryMs } from '../../../access/suspension'
import { limitsOfPlan } from '../../../access/plans'
import { plans, workspaces as workspaceRows } from '../../../access/tables'
import { forUpdate } from '../../../core/db/dialect'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import { rowsById } from '../../../core/db/rows-by-id'
import { events } from '../../../core/db/tables'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { ClaimedJob } from '../../../core/jobs/job'
import { retryLaneAt } from '../../../core/jobs/lane-holds'
import type { JobDraft } from '../../../core/jobs/draft'
import type { AttemptWindow } from './attempt-window'
import { deliverJobFor, deliverKind, triggerOf, type Delivery, type DeliverPayload } from './delivery-jobs'
import { isOpen } from './delivery-rows'
import { reserveSlot } from './rate-limit'
import { lockEndpoint, blockReasonOf } from './holds'
import { webhookAttempts, webhookDeliveries, type AttemptTrigger } from '../deliveries/tables'
import { webhookEndpoints } from '../endpoints/tables'
import { webhookRateWindows } from './tables'
import { countAttempts } from './workspace-rate'
import { newId } from '../../../core/ids'

type Endpoint = typeof webhookEndpoints.$inferSelect

/** What to do for a claimed job. */
export type ClaimedDelivery =
  | { next: 'post'; delivery: Delivery; endpoint: Endpoint; body: string; policy: StoredPolicy }
  /** The endpoint is inactive, disabled, or deleted. */
  | { next: 'hold'; delivery: Delivery }
  /** The event was deleted. */
  | { next: 'expire'; delivery: Delivery }
  /** The endpoint is rate limited, or the workspace is suspended. */
  | { next: 'wait'; job: JobDraft }

type Job = ClaimedJob<DeliverPayload>

/**
 * Loads everything that the attempts of a batch of jobs need, and marks the deliveries to be sent as in flight, which blocks
 * resends until the attempt has finished. Jobs whose delivery has changed in the meantime are left out.
 */
export async function claimDeliveries(tx: Tx, hub: Hub, jobs: readonly Job[]): Promise<ReadonlyMap<string, ClaimedDelivery>> {
  const claims = new Map<string, ClaimedDelivery>()
  const endpoints = await endpointsOf(tx, jobs)
  await lockRateLimited(tx, endpoints)
  const open = await lockOpenDeliveries(tx, jobs)
  const sendable = open.filter(({ delivery }) => blockReasonOf(endpoints.get(delivery.endpointId)) === null)
  const bodies = await bodiesOf(tx, sendable)
  const workspaces = await workspacesOf(tx, open)
  const now = hub.clock.now()
  const starting: string[] = []
  for (const { job, delivery } of open) {
    const endpoint = endpoints.get(delivery.endpointId)
    const workspace = workspaces.get(delivery.workspaceId)!
    if (workspace.suspendedAt !== null) {
      const at = now + suspendedRetryMs
      await postpone(tx, delivery, at)
      claims.set(job.id, { next: 'wait', job: deliverJobFor(delivery, at, job.payload) })
      continue
    }
    if (!endpoint || blockReasonOf(endpoint) !== null) {
      claims.set(job.id, { next: 'hold', delivery })
      continue
    }
    const body = delivery.testBody ?? bodies.get(delivery.eventId ?? '')
    if (body === undefined) {
      claims.set(job.id, { next: 'expire', delivery })
      continue
    }
    const later = await rateLimitJob(tx, delivery, endpoint, job.payload, now)
    if (later) {
      claims.set(job.id, { next: 'wait', job: later })
      continue
    }
    starting.push(delivery.id)
    const started = await recordAborted(tx, delivery, endpoint, job.payload)
    claims.set(job.id, { next: 'post', delivery: started, endpoint, body, policy: workspace.networkPolicy })
  }
  await markInFlight(tx, starting, now)
  await countStarted(tx, workspaces, jobs, claims, now)
  await probeNext(tx, jobs, claims, endpoints, now)
  return claims
}

const markInFlight = (tx: Tx, ids: readonly string[], now: number): Promise<unknown> =>
  forIds(ids, (size, list, values) =>
    prepared<{ id: string }[], Tx>(tx, `webhook-deliveries-start|${size}`, handle =>
      handle
        .update(webhookDeliveries)
        .set({ status: 'in_flight', reason: null, nextAttemptAt: null, updatedAt: sql`${sql.placeholder('now')}` })
        .where(sql`${webhookDeliveries.id} in ${list}`)
        .returning({ id: webhookDeliveries.id }),
    ).execute({ ...values, now }),
  )

/** Counts the started attempts against the per-minute limits of their workspaces. Manual resends don't count. */
async function countStarted(
  tx: Tx,
  workspaces: ReadonlyMap<string, Workspace>,
  jobs: readonly Job[],
  claims: ReadonlyMap<string, ClaimedDelivery>,
  now: number,
): Promise<void> {
  const starting = jobs.flatMap(job => {
    const one = claims.get(job.id)
    return one?.next === 'post' && !job.payload.manual ? [one.delivery.workspaceId] : []
  })
  for (const [id, { length }] of Map.groupBy(starting, id => id)) {
    const { window, perMinute } = workspaces.get(id)!
    if (window !== null && perMinute !== null) await countAttempts(tx, id, window, length, now)
  }
}

/**
 * Records an attempt whose process died, before the next one starts: the receiver may have seen it. Returns the updated delivery.
 */
async function recordAborted(tx: Tx, delivery: Delivery, { url }: Endpoint, payload: DeliverPayload): Promise<Delivery> {
  if (delivery.status !== 'in_flight') return delivery
  const aborted = abortedAttempt(delivery, url, triggerOf(payload))
  await tx.insert(webhookAttempts).values(aborted)
  const columns = { attemptCount: aborted.number, lastStatusCode: null, lastErrorClass: aborted.errorClass }
  await tx.update(webhookDeliveries).set(columns).where(eq(webhookDeliveries.id, delivery.id))
  return { ...delivery, ...columns }
}

/** If the job that was to probe a half-open breaker makes no attempt, lets the next job in its lane run immediately. */
async function probeNext(
  tx: Tx,
  jobs: readonly Job[],
  claims: ReadonlyMap<string, ClaimedDelivery>,
  endpoints: ReadonlyMap<string, Endpoint>,
  now: number,
): Promise<void> {
  for (const job of jobs) {
    if (claims.get(job.id)?.next === 'post') continue
    const until = endpoints.get(endpointIn(job.lane))?.breakerUntil ?? null
    if (until !== null) await retryLaneAt(tx, deliverKind, job.lane, Math.max(now, until))
  }
}

const endpointIn = (lane: string): string => lane.split('/')[1]!

async function endpointsOf(tx: Tx, jobs: readonly Job[]): Promise<Map<string, Endpoint>> {
  const ids = new Set(jobs.map(job => endpointIn(job.lane)))
  return await rowsById(tx, 'webhook_endpoints', webhookEndpoints, webhookEndpoints.id, ids)
}

/** Locks rate-limited endpoints before their deliveries, in id order, to avoid deadlocks. */
async function lockRateLimited(tx: Tx, endpoints: ReadonlyMap<string, Endpoint>): Promise<void> {
  const limited = [...endpoints.values()].filter(endpoint => endpoint.maxPerSecond !== null).map(endpoint => endpoint.id)
  for (const id of limited.sort()) await lockEndpoint(tx, id)
}

/** Locks the deliveries that are still waiting for these jobs. */
async function lockOpenDeliveries(tx: Tx, jobs: readonly Job[]): Promise<{ job: Job; delivery: Delivery }[]> {
  const ids = jobs.map(job => job.payload.delivery_id)
  const rows = await forIds(ids, (size, list, values) =>
    prepared<Delivery[], Tx>(tx, `webhook-deliveries-lock|${size}`, handle =>
      forUpdate(
        handle
          .select()
          .from(webhookDeliveries)
          .where(sql`${webhookDeliveries.id} in ${list}`),
      ),
    ).execute(values),
  )
  const byId = new Map(rows.map(row => [row.id, row]))
  return jobs.flatMap(job => {
    const delivery = byId.get(job.payload.delivery_id)
    if (!delivery || delivery.version !== job.payload.version || !isOpen(delivery)) return []
    // A second job for the same attempt would record it twice, which fails, and the whole batch with it.
    byId.delete(delivery.id)
    return [{ job, delivery }]
  })
}

async function bodiesOf(tx: Tx, sendable: { delivery: Delivery }[]): Promise<Map<string, string>> {
  const ids = [...new Set(sendable.flatMap(({ delivery }) => delivery.eventId ?? []))]
  const rows = await forIds(ids, (size, list, values) =>
    prepared<{ id: string; body: string }[], Tx>(tx, `event-bodies|${size}`, handle =>
      handle
        .select({ id: events.id, body: events.body })
        .from(events)
        .where(sql`${events.id} in ${list}`),
    ).execute(values),
  )
  return new Map(rows.map(row => [row.id, row.body]))
}

interface Workspace {
  networkPolicy: StoredPolicy
  suspendedAt: number | null
  /** Attempts a minute that the plan allows. */
  perMinute: number | null
  /** Attempts of the last minute; null if none were ever counted. */
  window: AttemptWindow | null
}

async function workspacesOf(tx: Tx, open: { delivery: Delivery }[]): Promise<Map<string, Workspace>> {
  const ids = [...new Set(open.map(({ delivery }) => delivery.workspaceId))]
  const rows = await forIds(ids, (size, list, values) => workspacesQuery(tx, size, list).execute(values))
  return new Map(
    rows.map(({ id, networkPolicy, suspendedAt, plan, overrides, window }) => {
      const perMinute = limitsOfPlan(plan, overrides).deliveries_per_minute
      return [id, { networkPolicy, suspendedAt, perMinute, window }]
    }),
  )
}

const workspacesQuery = (tx: Tx, size: number, list: SQL) =>
  prepared(tx, `webhook-workspaces|${size}`, (handle: Tx) =>
    handle
      .select({
        id: workspaceRows.id,
        networkPolicy: workspaceRows.networkPolicy,
        suspendedAt: workspaceRows.suspendedAt,
        plan: { id: plans.id, limits: plans.limits },
        overrides: workspaceRows.limitOverrides,
        window: webhookRateWindows.attempts,
      })
      .from(workspaceRows)
      .innerJoin(plans, eq(plans.id, workspaceRows.planId))
      .leftJoin(webhookRateWindows, eq(webhookRateWindows.workspaceId, workspaceRows.id))
      .where(sql`${workspaceRows.id} in ${list}`),
  )

/**
 * Returns the job of an attempt that has to wait for the endpoint's rate limit, or null if it may start now. Manual resends don't
 * wait: they are limited to five a minute.
 */
async function rateLimitJob(
  tx: Tx,
  delivery: Delivery,
  endpoint: Endpoint,
  payload: DeliverPayload,
  now: number,
): Promise<JobDraft | null> {
  if (endpoint.maxPerSecond === null || payload.rate_slot || payload.manual) return null
  const slot = await reserveSlot(tx, endpoint.id, now)
  if (slot.at <= now) return null
  await postpone(tx, delivery, slot.at)
  return deliverJobFor(delivery, slot.at, { ...payload, rate_slot: slot.reserved })
}

async function postpone(tx: Tx, { id }: Delivery, nextAttemptAt: number): Promise<void> {
  await tx.update(webhookDeliveries).set({ nextAttemptAt }).where(eq(webhookDeliveries.id, id))
}

/** The log entry of an attempt whose process died before it finished. */
const abortedAttempt = (delivery: Delivery, url: string, trigger: AttemptTrigger) =>
  ({
    id: newId('att'),
    deliveryId: delivery.id,
    number: delivery.attemptCount + 1,
    trigger,
    // Set when it was marked as in flight.
    startedAt: delivery.updatedAt,
    durationMs: 0,
    statusCode: null,
    errorClass: 'aborted',
    errorMessage: 'The attempt was interrupted because the hub stopped. The message may have been delivered. It was retried.',
    request: { url, headers: {} },
    response: null,
    timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: null },
  }) satisfies typeof webhookAttempts.$inferInsert
