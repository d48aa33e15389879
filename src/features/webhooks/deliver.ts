import { record, type Recorded } from '../../core/change'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { NotOpened } from '../../core/secrets'
import { tally } from '../../core/tally'
import type { Finish, JobKind } from '../../core/jobs/job'
import { countRefusal, isRefusal, closeBreaker } from './breaker'
import { deliverJobFor, deliverKind, triggerOf, untilDone, type Delivery, type DeliverPayload } from './delivery-jobs'
import { endDelivery, logTry, moveDelivery, scheduledTries } from './delivery-rows'
import { disableWhenDue, noteOutcome } from './health'
import { deliveryLanes } from './lanes'
import { behindEarlier, isBehind, moveUp, waitsForNothing } from './line'
import { post, type Tried } from './post'
import { beginTry } from './recent-tries'
import { nextRetry } from './retry-schedule'
import { longestTryMs } from './signed-post'
import { heldStill, obstacleOf } from './standing'

import { takeDeliveries, type Taken } from './take'

type Outcome = Recorded<undefined>

/** Makes one try of a delivery, and asks for the next one until the schedule ends. */
export const deliverJob: JobKind<DeliverPayload, Taken> = {
  kind: deliverKind,
  concurrency: 256,
  lanes: deliveryLanes,
  // Longer than any try by construction, so that no second one can begin while the first still runs.
  leaseMs: longestTryMs + 30_000,
  retryAfter: untilDone,
  take: takeDeliveries,
  async run(hub, { payload }, taken) {
    switch (taken?.next) {
      case undefined:
        return undefined
      case 'set aside':
        return tx => setAside(tx, hub, taken.delivery, payload)
      case 'expire':
        return tx => endDelivery(tx, hub, taken.delivery, { status: 'expired', reason: 'event_expired' })
      case 'wait':
        return async () => ({ result: undefined, jobs: [taken.job] })
      case 'post':
        return await tryOnce(hub, payload, taken)
    }
  },
}

// An unreadable secret is a matter of keys: the operator is told, and it is looked at again this often.
const unreadablePauseMs = 60_000

async function tryOnce(hub: Hub, payload: DeliverPayload, taken: Extract<Taken, { next: 'post' }>): Promise<Finish> {
  const { delivery, endpoint, body, policy } = taken
  const ended = beginTry(hub, endpoint.id)
  let refused: boolean | undefined
  try {
    const tried = await post(hub, { delivery, endpoint, body, trigger: triggerOf(payload), policy })
    tally(hub, 'webhook_attempts', tried.row.errorClass ?? 'delivered')
    refused = isRefusal(tried.row)
    return tried.reason === null ? tx => succeeded(tx, hub, delivery, tried) : tx => failed(tx, hub, delivery, tried, payload)
  } catch (error) {
    if (!(error instanceof NotOpened)) {
      // Nothing was sent, so that no try was cut off.
      await record(hub, async tx => ({ result: await moveDelivery(tx, delivery, waitsForNothing) }))
      throw error
    }
    hub.log.error({ err: error, endpoint: endpoint.id, delivery: delivery.id }, 'a webhook secret could not be opened')
    return async tx => {
      const at = hub.clock.now() + unreadablePauseMs
      await moveDelivery(tx, delivery, {
        status: delivery.attemptCount > 0 ? 'retrying' : 'pending',
        reason: 'secret_unreadable',
        nextAttemptAt: at,
        updatedAt: hub.clock.now(),
      })
      return { result: undefined, jobs: [deliverJobFor(delivery, at, payload)] }
    }
  } finally {
    ended(refused)
  }
}

async function succeeded(tx: Tx, hub: Hub, delivery: Delivery, tried: Tried): Promise<Outcome> {
  const now = hub.clock.now()
  // The endpoint before its deliveries: what waits behind this one is let go in the same transaction.
  if (delivery.turn !== null) await heldStill(tx, delivery.endpointId)
  await noteOutcome(tx, delivery.endpointId, { ok: true }, now)
  await logTry(tx, delivery, tried, now)
  return { result: undefined, jobs: await moveUp(tx, delivery, now) }
}

async function failed(tx: Tx, hub: Hub, delivery: Delivery, tried: Tried, payload: DeliverPayload): Promise<Outcome> {
  const now = hub.clock.now()
  // The endpoint before its deliveries, here as everywhere: two that lock in different orders wait for each other.
  const outcome = { ok: false, gone: tried.gone, manual: triggerOf(payload) !== 'auto' } as const
  const counted = await noteOutcome(tx, delivery.endpointId, outcome, now)
  if (isRefusal(tried.row)) await countRefusal(tx, hub, delivery.endpointId)
  else if (counted && (counted.refusedInARow > 0 || counted.breakerUntil !== null)) await closeBreaker(tx, counted)
  if (!(await logTry(tx, delivery, tried, now))) return { result: undefined }
  const { endpoint, audits, events, notices } = await disableWhenDue(tx, hub, counted)
  const told = { result: undefined, audits, events, notices }

  const exhausted = { status: 'exhausted', reason: tried.reason } as const
  if (delivery.endedAs) return { ...told, ...(await endDelivery(tx, hub, delivery, exhausted)) }
  const due = nextRetry({
    attempt: await scheduledTries(tx, delivery.id),
    nowMs: now,
    random: Math.random,
    retryAfter: tried.retryAfter,
    ...(endpoint?.retrySchedule && { schedule: [0, ...endpoint.retrySchedule] }),
  })
  if (due === null) return { ...told, ...(await endDelivery(tx, hub, delivery, exhausted)) }
  const obstacle = obstacleOf(endpoint)
  if (obstacle === 'endpoint_deleted') {
    return { ...told, ...(await endDelivery(tx, hub, delivery, { status: 'cancelled', reason: obstacle })) }
  }
  if (obstacle) {
    await moveDelivery(tx, delivery, { status: 'held', reason: obstacle, updatedAt: now })
    return told
  }
  // One that somebody sent out of its turn goes back into the line.
  if (endpoint?.ordering === 'per_resource' && (await isBehind(tx, delivery))) {
    await moveDelivery(tx, delivery, { status: 'held', reason: behindEarlier, updatedAt: now })
    return told
  }
  await moveDelivery(tx, delivery, { status: 'retrying', reason: tried.reason, nextAttemptAt: due, updatedAt: now })
  return { ...told, jobs: [deliverJobFor({ ...delivery, attemptCount: delivery.attemptCount + 1 }, due)] }
}

/** Ends a delivery's wait because of its endpoint, unless the endpoint was opened at this very moment. */
async function setAside(tx: Tx, hub: Hub, delivery: Delivery, payload: DeliverPayload): Promise<Outcome> {
  const obstacle = obstacleOf(await heldStill(tx, delivery.endpointId))
  if (obstacle === null) return { result: undefined, jobs: [deliverJobFor(delivery, hub.clock.now(), payload)] }
  if (obstacle === 'endpoint_deleted') return await endDelivery(tx, hub, delivery, { status: 'cancelled', reason: obstacle })
  await moveDelivery(tx, delivery, { status: 'held', reason: obstacle, nextAttemptAt: null, updatedAt: hub.clock.now() })
  return { result: undefined }
}
