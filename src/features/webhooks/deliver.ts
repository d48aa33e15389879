import { and, count, eq, inArray, sql } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { record, type Recorded } from '../../core/change'
import { prepared } from '../../core/db/prepared'
import { events } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { tally } from '../../core/tally'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { deliverJobFor, deliverKind, untilDone, type Delivery, type DeliverPayload } from './delivery-jobs'
import { disableWhenGone, noteOutcome } from './health'
import { takeTurn } from './pace'
import { longestTryMs, post, type Tried } from './post'
import { nextRetry } from './retry-schedule'
import { mostInFlight, takeSlot } from './slots'
import { heldStill, obstacleOf } from './standing'
import { webhookAttempts, webhookDeliveries, webhookEndpoints, type FinalState } from './tables'

type Outcome = Recorded<undefined>

/** Makes one try of a delivery, and asks for the next one until the schedule ends. */
export const deliverJob: JobKind<DeliverPayload> = {
  kind: deliverKind,
  concurrency: 256,
  laneConcurrency: mostInFlight,
  // Longer than any try by construction, so that no second one can begin while the first still runs.
  leaseMs: longestTryMs + 30_000,
  retryAfter: untilDone,
  async run(hub, { payload }) {
    const found = await findDelivery(hub, payload)
    if (!found) return undefined
    const { delivery, endpoint, policy } = found
    if (endpoint === null || obstacleOf(endpoint) !== null) return tx => setAside(tx, hub, delivery, payload)
    const body = delivery.testBody ?? found.body
    if (body === null) return tx => end(tx, hub, delivery, { status: 'expired', reason: 'event_expired' })
    const leaveSlot = takeSlot(hub, endpoint.id)
    if (!leaveSlot) return async () => ({ result: undefined, jobs: [putOff(delivery, payload, hub.clock.now())] })
    try {
      const later = await waitForTurn(hub, delivery, endpoint, payload)
      if (later) return async () => ({ result: undefined, jobs: [later] })
      if (!(await begin(hub, delivery))) return undefined
      const tried = await post(hub, { delivery, endpoint, body, trigger: triggerOf(payload), policy })
      tally(hub, 'webhook_attempts', tried.row.errorClass ?? 'delivered')
      return tried.reason === null ? tx => succeeded(tx, hub, delivery, tried) : tx => failed(tx, hub, delivery, tried, payload)
    } finally {
      leaveSlot()
    }
  },
}

const triggerOf = ({ manual, recovery }: DeliverPayload) => (manual ? 'manual' : recovery ? 'recovery' : 'auto')

// What a job may find its delivery in. In flight: the process that made the try died, and this job is the same one, taken over.
const open = ['pending', 'retrying', 'in_flight'] as const

async function findDelivery(hub: Hub, payload: DeliverPayload) {
  const [found] = await prepared(hub.read, 'webhook-delivery-to-make', read =>
    read
      .select({ delivery: webhookDeliveries, endpoint: webhookEndpoints, body: events.body, policy: workspaces.networkPolicy })
      .from(webhookDeliveries)
      .innerJoin(workspaces, eq(workspaces.id, webhookDeliveries.workspaceId))
      .leftJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
      .leftJoin(events, eq(events.id, webhookDeliveries.eventId))
      .where(eq(webhookDeliveries.id, sql.placeholder('id'))),
  ).execute({ id: payload.delivery_id })
  const stands = found && found.delivery.version === payload.version && open.includes(found.delivery.status as never)
  return stands ? found : null
}

/** A burst passes in moments; what a slow endpoint piles up looks in ever more seldom, and all of it at different times. */
function putOff(delivery: Delivery, payload: DeliverPayload, now: number): JobDraft {
  const { waits = 0 } = payload
  const pause = Math.min(200 * 2 ** waits, 10_000) * (1 + Math.random())
  return deliverJobFor(delivery, now + Math.round(pause), { ...payload, waits: waits + 1 })
}

/**
 * The job of a try that its endpoint's limit puts off; null when it may be made now. Somebody's resend is not put off behind
 * a queue: there are five a minute at most.
 */
async function waitForTurn(
  hub: Hub,
  delivery: Delivery,
  endpoint: { id: string; maxPerSecond: number | null },
  payload: DeliverPayload,
): Promise<JobDraft | null> {
  if (endpoint.maxPerSecond === null || payload.turn || payload.manual) return null
  const now = hub.clock.now()
  return await record(hub, async tx => {
    const turn = await takeTurn(tx, endpoint.id, now)
    if (turn.at <= now) return { result: null }
    await move(tx, delivery, { nextAttemptAt: turn.at })
    return { result: deliverJobFor(delivery, turn.at, { ...payload, turn: turn.kept }) }
  })
}

/** Marks a delivery as in flight, unless a resend or an end came first; a resend is refused until the try has ended. */
async function begin(hub: Hub, delivery: Delivery): Promise<boolean> {
  return await record(hub, async tx => {
    const rows = await tx
      .update(webhookDeliveries)
      .set({ status: 'in_flight', reason: null, nextAttemptAt: null, updatedAt: hub.clock.now() })
      .where(mine(delivery))
      .returning({ id: webhookDeliveries.id })
    return { result: rows.length === 1 }
  })
}

async function succeeded(tx: Tx, hub: Hub, delivery: Delivery, tried: Tried): Promise<Outcome> {
  await noteOutcome(tx, delivery.endpointId, { ok: true })
  const now = hub.clock.now()
  const delivered = {
    status: 'delivered',
    reason: null,
    nextAttemptAt: null,
    finishedAt: now,
    endedAs: null,
    updatedAt: now,
  } as const
  await logTry(tx, delivery, tried, delivered)
  return { result: undefined }
}

async function failed(tx: Tx, hub: Hub, delivery: Delivery, tried: Tried, payload: DeliverPayload): Promise<Outcome> {
  const now = hub.clock.now()
  // The endpoint before its deliveries, here as everywhere: two that lock in different orders wait for each other.
  const counted = await noteOutcome(tx, delivery.endpointId, {
    ok: false,
    gone: tried.gone,
    manual: triggerOf(payload) !== 'auto',
  })
  if (!(await logTry(tx, delivery, tried))) return { result: undefined }
  const { endpoint, audits, events } = await disableWhenGone(tx, hub, counted)
  const told = { result: undefined, audits, events }

  const { endedAs } = delivery
  if (endedAs) {
    await move(tx, delivery, {
      status: endedAs.status,
      reason: endedAs.reason,
      finishedAt: endedAs.finished_at,
      endedAs: null,
      updatedAt: now,
    })
    return told
  }
  const due = nextRetry({
    attempt: await scheduledTries(tx, delivery.id),
    nowMs: now,
    random: Math.random,
    retryAfter: tried.retryAfter,
    ...(endpoint?.retrySchedule && { schedule: [0, ...endpoint.retrySchedule] }),
  })
  if (due === null) return { ...told, ...(await end(tx, hub, delivery, { status: 'exhausted', reason: tried.reason })) }
  const obstacle = obstacleOf(endpoint)
  if (obstacle === 'endpoint_deleted') {
    return { ...told, ...(await end(tx, hub, delivery, { status: 'cancelled', reason: obstacle })) }
  }
  if (obstacle) {
    await move(tx, delivery, { status: 'held', reason: obstacle, updatedAt: now })
    return told
  }
  await move(tx, delivery, { status: 'retrying', reason: tried.reason, nextAttemptAt: due, updatedAt: now })
  return { ...told, jobs: [deliverJobFor({ ...delivery, attemptCount: delivery.attemptCount + 1 }, due)] }
}

/** Ends a delivery's wait because of its endpoint, unless the endpoint was opened at this very moment. */
async function setAside(tx: Tx, hub: Hub, delivery: Delivery, payload: DeliverPayload): Promise<Outcome> {
  const obstacle = obstacleOf(await heldStill(tx, delivery.endpointId))
  if (obstacle === null) return { result: undefined, jobs: [deliverJobFor(delivery, hub.clock.now(), payload)] }
  if (obstacle === 'endpoint_deleted') return await end(tx, hub, delivery, { status: 'cancelled', reason: obstacle })
  await move(tx, delivery, { status: 'held', reason: obstacle, nextAttemptAt: null, updatedAt: hub.clock.now() })
  return { result: undefined }
}

async function end(tx: Tx, hub: Hub, delivery: Delivery, as: { status: FinalState; reason: string | null }): Promise<Outcome> {
  const now = hub.clock.now()
  await move(tx, delivery, { ...as, nextAttemptAt: null, finishedAt: now, endedAs: null, updatedAt: now })
  return { result: undefined }
}

/** Writes the try down, and what it makes of the delivery. False when the delivery is gone, with its workspace. */
async function logTry(tx: Tx, delivery: Delivery, tried: Tried, also: Partial<Delivery> = {}): Promise<boolean> {
  const rows = await tx
    .update(webhookDeliveries)
    .set({
      ...also,
      attemptCount: tried.row.number,
      lastStatusCode: tried.row.statusCode ?? null,
      lastErrorClass: tried.row.errorClass ?? null,
    })
    .where(mine(delivery))
    .returning({ id: webhookDeliveries.id })
  if (rows.length === 0) return false
  await tx.insert(webhookAttempts).values({ id: newId('att'), deliveryId: delivery.id, ...tried.row })
  return true
}

/** Tries of the schedule so far: a resend takes the place of the one that waited and uses none up. */
async function scheduledTries(tx: Tx, deliveryId: string): Promise<number> {
  const [row] = await tx
    .select({ n: count() })
    .from(webhookAttempts)
    .where(and(eq(webhookAttempts.deliveryId, deliveryId), eq(webhookAttempts.trigger, 'auto')))
  return Math.max(1, row!.n)
}

async function move(tx: Tx, delivery: Delivery, to: Partial<Delivery>): Promise<void> {
  await tx.update(webhookDeliveries).set(to).where(mine(delivery))
}

const mine = (delivery: Delivery) =>
  and(
    eq(webhookDeliveries.id, delivery.id),
    eq(webhookDeliveries.version, delivery.version),
    inArray(webhookDeliveries.status, [...open]),
  )
