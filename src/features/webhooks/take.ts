import { eq, inArray } from 'drizzle-orm'
import { suspendedPauseMs } from '../../access/suspension'
import { plans, workspaces as workspaceRows } from '../../access/tables'
import { locking } from '../../core/db/dialect'
import { events } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { ClaimedJob } from '../../core/jobs/job'
import { tryAnother } from '../../core/jobs/lane-holds'
import type { JobDraft } from '../../core/jobs/queue'
import type { Begun } from './begun-tries'
import { deliverJobFor, deliverKind, triggerOf, type Delivery, type DeliverPayload } from './delivery-jobs'
import { openDelivery } from './delivery-rows'
import { lostTry } from './lost-try'
import { takeTurn } from './pace'
import { heldStill, obstacleOf } from './standing'
import { webhookAttempts, webhookDeliveries, webhookEndpoints, webhookPaces } from './tables'
import { countBegun } from './workspace-pace'

type Endpoint = typeof webhookEndpoints.$inferSelect
type Policy = typeof workspaceRows.$inferSelect.networkPolicy

/** What is to be done for a job that was claimed, with all that it needs. */
export type Taken =
  | { next: 'post'; delivery: Delivery; endpoint: Endpoint; body: string; policy: Policy }
  /** The endpoint takes nothing, or is gone. */
  | { next: 'set aside'; delivery: Delivery }
  /** Its event was deleted. */
  | { next: 'expire'; delivery: Delivery }
  /** The endpoint's limit of tries a second puts it off, or the workspace is suspended. */
  | { next: 'wait'; job: JobDraft }

type Job = ClaimedJob<DeliverPayload>

/**
 * Reads what the tries of a claim need, all at once, and marks those that go out as in flight; a resend is refused until the try
 * has ended. A job whose delivery went another way meanwhile gets nothing.
 */
export async function takeDeliveries(tx: Tx, hub: Hub, jobs: readonly Job[]): Promise<ReadonlyMap<string, Taken>> {
  const taken = new Map<string, Taken>()
  const endpoints = await endpointsOf(tx, jobs)
  await lockPaced(tx, endpoints)
  const standing = await standingDeliveries(tx, jobs)
  const open = standing.filter(({ delivery }) => obstacleOf(endpoints.get(delivery.endpointId)) === null)
  const bodies = await bodiesOf(tx, open)
  const workspaces = await workspacesOf(tx, standing)
  const now = hub.clock.now()
  const going: string[] = []
  for (const { job, delivery } of standing) {
    const endpoint = endpoints.get(delivery.endpointId)
    const workspace = workspaces.get(delivery.workspaceId)!
    if (workspace.suspendedAt !== null) {
      const at = now + suspendedPauseMs
      await putOff(tx, delivery, at)
      taken.set(job.id, { next: 'wait', job: deliverJobFor(delivery, at, job.payload) })
      continue
    }
    if (!endpoint || obstacleOf(endpoint) !== null) {
      taken.set(job.id, { next: 'set aside', delivery })
      continue
    }
    const body = delivery.testBody ?? bodies.get(delivery.eventId ?? '')
    if (body === undefined) {
      taken.set(job.id, { next: 'expire', delivery })
      continue
    }
    const later = await waitForTurn(tx, delivery, endpoint, job.payload, now)
    if (later) {
      taken.set(job.id, { next: 'wait', job: later })
      continue
    }
    going.push(delivery.id)
    const begun = await loggedLoss(tx, delivery, endpoint, job.payload)
    taken.set(job.id, { next: 'post', delivery: begun, endpoint, body, policy: workspace.networkPolicy })
  }
  if (going.length > 0) {
    await tx
      .update(webhookDeliveries)
      .set({ status: 'in_flight', reason: null, nextAttemptAt: null, updatedAt: now })
      .where(inArray(webhookDeliveries.id, going))
  }
  await countAll(tx, workspaces, jobs, taken, now)
  await askAnother(tx, jobs, taken, endpoints, now)
  return taken
}

/** Counts what goes out against the limits a minute of workspaces, but for what somebody sends by hand. */
async function countAll(
  tx: Tx,
  workspaces: ReadonlyMap<string, Workspace>,
  jobs: readonly Job[],
  taken: ReadonlyMap<string, Taken>,
  now: number,
): Promise<void> {
  const going = jobs.flatMap(job => {
    const one = taken.get(job.id)
    return one?.next === 'post' && !job.payload.manual ? [one.delivery.workspaceId] : []
  })
  for (const [id, { length }] of Map.groupBy(going, id => id)) {
    const { begun, perMinute } = workspaces.get(id)!
    if (begun !== null && perMinute !== null) await countBegun(tx, id, begun, length, now)
  }
}

/** A try whose process died is written down before the next one: the receiver may have seen it. Returns the delivery as it then stands. */
async function loggedLoss(tx: Tx, delivery: Delivery, { url }: Endpoint, payload: DeliverPayload): Promise<Delivery> {
  if (delivery.status !== 'in_flight') return delivery
  const lost = lostTry(delivery, url, triggerOf(payload))
  await tx.insert(webhookAttempts).values(lost)
  const counted = { attemptCount: lost.number, lastStatusCode: null, lastErrorClass: lost.errorClass }
  await tx.update(webhookDeliveries).set(counted).where(eq(webhookDeliveries.id, delivery.id))
  return { ...delivery, ...counted }
}

/** The job that was to find out whether a half-open breaker may close makes no try: the next one in its lane is asked at once. */
async function askAnother(
  tx: Tx,
  jobs: readonly Job[],
  taken: ReadonlyMap<string, Taken>,
  endpoints: ReadonlyMap<string, Endpoint>,
  now: number,
): Promise<void> {
  for (const job of jobs) {
    if (taken.get(job.id)?.next === 'post') continue
    const until = endpoints.get(endpointIn(job.lane))?.breakerUntil ?? null
    if (until !== null) await tryAnother(tx, deliverKind, job.lane, Math.max(now, until))
  }
}

const endpointIn = (lane: string): string => lane.split('/')[1]!

async function endpointsOf(tx: Tx, jobs: readonly Job[]): Promise<Map<string, Endpoint>> {
  const ids = [...new Set(jobs.map(job => endpointIn(job.lane)))]
  const rows = await tx.select().from(webhookEndpoints).where(inArray(webhookEndpoints.id, ids))
  return new Map(rows.map(row => [row.id, row]))
}

/** Those whose turns are given out, locked before their deliveries and in one order: two that lock in different orders wait for each other. */
async function lockPaced(tx: Tx, endpoints: ReadonlyMap<string, Endpoint>): Promise<void> {
  const paced = [...endpoints.values()].filter(endpoint => endpoint.maxPerSecond !== null).map(endpoint => endpoint.id)
  for (const id of paced.sort()) await heldStill(tx, id)
}

/** The deliveries that still wait for their jobs, kept so until the transaction ends. */
async function standingDeliveries(tx: Tx, jobs: readonly Job[]): Promise<{ job: Job; delivery: Delivery }[]> {
  const ids = jobs.map(job => job.payload.delivery_id)
  const rows = await locking(tx.select().from(webhookDeliveries).where(inArray(webhookDeliveries.id, ids)))
  const byId = new Map(rows.map(row => [row.id, row]))
  return jobs.flatMap(job => {
    const delivery = byId.get(job.payload.delivery_id)
    if (!delivery || delivery.version !== job.payload.version || !openDelivery(delivery)) return []
    // A second job of the same try would write it down twice, which fails, and with it the claim of all others.
    byId.delete(delivery.id)
    return [{ job, delivery }]
  })
}

async function bodiesOf(tx: Tx, open: { delivery: Delivery }[]): Promise<Map<string, string>> {
  const ids = [...new Set(open.flatMap(({ delivery }) => delivery.eventId ?? []))]
  if (ids.length === 0) return new Map()
  const rows = await tx.select({ id: events.id, body: events.body }).from(events).where(inArray(events.id, ids))
  return new Map(rows.map(row => [row.id, row.body]))
}

interface Workspace {
  networkPolicy: Policy
  suspendedAt: number | null
  /** Tries a minute that its plan allows. */
  perMinute: number | null
  /** What it began of them; null where it was never asked for. */
  begun: Begun | null
}

async function workspacesOf(tx: Tx, standing: { delivery: Delivery }[]): Promise<Map<string, Workspace>> {
  const ids = [...new Set(standing.map(({ delivery }) => delivery.workspaceId))]
  if (ids.length === 0) return new Map()
  const rows = await tx
    .select({
      id: workspaceRows.id,
      networkPolicy: workspaceRows.networkPolicy,
      suspendedAt: workspaceRows.suspendedAt,
      limits: plans.limits,
      overrides: workspaceRows.limitOverrides,
      begun: webhookPaces.begun,
    })
    .from(workspaceRows)
    .innerJoin(plans, eq(plans.id, workspaceRows.planId))
    .leftJoin(webhookPaces, eq(webhookPaces.workspaceId, workspaceRows.id))
    .where(inArray(workspaceRows.id, ids))
  return new Map(
    rows.map(({ id, networkPolicy, suspendedAt, limits, overrides, begun }) => {
      const perMinute = { ...limits, ...overrides }.deliveries_per_minute
      return [id, { networkPolicy, suspendedAt, perMinute, begun }]
    }),
  )
}

/**
 * The job of a try that its endpoint's limit puts off; null when it may be made now. Somebody's resend is not put off behind
 * a queue: there are five a minute at most.
 */
async function waitForTurn(
  tx: Tx,
  delivery: Delivery,
  endpoint: Endpoint,
  payload: DeliverPayload,
  now: number,
): Promise<JobDraft | null> {
  if (endpoint.maxPerSecond === null || payload.turn || payload.manual) return null
  const turn = await takeTurn(tx, endpoint.id, now)
  if (turn.at <= now) return null
  await putOff(tx, delivery, turn.at)
  return deliverJobFor(delivery, turn.at, { ...payload, turn: turn.kept })
}

async function putOff(tx: Tx, { id }: Delivery, nextAttemptAt: number): Promise<void> {
  await tx.update(webhookDeliveries).set({ nextAttemptAt }).where(eq(webhookDeliveries.id, id))
}
