import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { DecryptionFailed } from '../../../core/secrets'
import { incrementCounter } from '../../../core/metric-counters'
import { Together, type Finish, type JobKind } from '../../../core/jobs/job'
import { nextRetry, unlimitedBackoff } from '../../../core/outgoing/retry-schedule'
import { maxAttemptMs } from '../../../core/outgoing/signed-post'
import { countFailure, countsForBreaker, closeBreaker } from './breaker'
import { deliverJobFor, deliverKind, triggerOf, type Delivery, type DeliverPayload } from './delivery-jobs'
import { finishDelivery, recordAttempt, recordSuccesses, updateOpenDelivery, countScheduledAttempts } from './delivery-rows'
import { disableIfFailing, recordFailure, markWorking } from './attempt-outcomes'
import { deliveryLanes } from './lanes'
import { waitingForEarlier, hasEarlierOpen, releaseNext, readyToSend } from './ordering'
import { post, type AttemptResult } from './post'
import { trackAttempt } from './recent-attempts'
import { lockEndpoint, blockReasonOf } from './holds'
import { claimDeliveries, type ClaimedDelivery } from './claim-deliveries'

type Outcome = RecordResult<undefined>

/** Makes one attempt of a delivery, and schedules the next one until the schedule ends. */
export const deliverJob: JobKind<DeliverPayload, ClaimedDelivery, Success> = {
  kind: deliverKind,
  concurrency: 256,
  lanes: deliveryLanes,
  // Longer than any attempt can take, so that attempts of a delivery never overlap.
  leaseMs: maxAttemptMs + 30_000,
  retryAfter: unlimitedBackoff,
  prepare: claimDeliveries,
  async run(hub, { payload }, claim) {
    switch (claim?.next) {
      case undefined:
        return undefined
      case 'hold':
        return tx => hold(tx, hub, claim.delivery, payload)
      case 'expire':
        return tx => finishDelivery(tx, hub, claim.delivery, { status: 'expired', reason: 'event_expired' })
      case 'wait':
        return async () => ({ result: undefined, jobs: [claim.job] })
      case 'post':
        return await attemptDelivery(hub, payload, claim)
    }
  },
  finishAll: succeeded,
}

/** A delivery and its successful attempt. */
interface Success {
  delivery: Delivery
  result: AttemptResult
}

// How often to retry if a secret can't be decrypted. Only the operator can fix the keys, so this goes to the log.
const unreadableRetryMs = 60_000

async function attemptDelivery(
  hub: Hub,
  payload: DeliverPayload,
  claim: Extract<ClaimedDelivery, { next: 'post' }>,
): Promise<Finish | Together<Success>> {
  const { delivery, endpoint, body, policy } = claim
  const finish = trackAttempt(hub, endpoint.id)
  let endpointFailed: boolean | undefined
  try {
    const result = await post(hub, { delivery, endpoint, body, trigger: triggerOf(payload), policy })
    incrementCounter(hub, 'webhook_attempts', result.row.errorClass ?? 'delivered')
    endpointFailed = countsForBreaker(result.row)
    return result.reason === null ? new Together({ delivery, result }) : tx => failed(tx, hub, delivery, result, payload)
  } catch (error) {
    if (!(error instanceof DecryptionFailed)) {
      // Nothing was sent, so there is no aborted attempt to record.
      await record(hub, async tx => ({ result: await updateOpenDelivery(tx, delivery, readyToSend) }))
      throw error
    }
    hub.log.error({ err: error, endpoint: endpoint.id, delivery: delivery.id }, 'a webhook secret could not be decrypted')
    return async tx => {
      const at = hub.clock.now() + unreadableRetryMs
      await updateOpenDelivery(tx, delivery, {
        status: delivery.attemptCount > 0 ? 'retrying' : 'pending',
        reason: 'secret_unreadable',
        nextAttemptAt: at,
        updatedAt: hub.clock.now(),
      })
      return { result: undefined, jobs: [deliverJobFor(delivery, at, payload)] }
    }
  } finally {
    finish(endpointFailed)
  }
}

async function succeeded(tx: Tx, hub: Hub, all: readonly Success[]): Promise<Outcome> {
  const now = hub.clock.now()
  const ordered = all.map(one => one.delivery).filter(one => one.orderPosition !== null)
  // Lock endpoints before their deliveries: the next delivery in order is released in this transaction.
  const locked = new Set(ordered.map(one => one.endpointId))
  await markWorking(tx, [...new Set(all.map(one => one.delivery.endpointId))], now, locked)
  await recordSuccesses(tx, all, now)
  const jobs: JobDraft[] = []
  for (const delivery of ordered) jobs.push(...(await releaseNext(tx, delivery, now)))
  return { result: undefined, jobs }
}

async function failed(tx: Tx, hub: Hub, delivery: Delivery, result: AttemptResult, payload: DeliverPayload): Promise<Outcome> {
  const now = hub.clock.now()
  // Lock the endpoint before its deliveries, as everywhere, to avoid deadlocks.
  const failure = { gone: result.gone, manual: triggerOf(payload) !== 'auto' }
  const counted = await recordFailure(tx, delivery.endpointId, failure, now)
  if (countsForBreaker(result.row)) await countFailure(tx, hub, delivery.endpointId)
  else if (counted && (counted.consecutiveFailures > 0 || counted.breakerUntil !== null)) await closeBreaker(tx, counted)
  if (!(await recordAttempt(tx, delivery, result))) return { result: undefined }
  const { endpoint, audits, events, notices } = await disableIfFailing(tx, hub, counted)
  const recorded = { result: undefined, audits, events, notices }

  const exhausted = { status: 'exhausted', reason: result.reason } as const
  if (delivery.endedAs) return { ...recorded, ...(await finishDelivery(tx, hub, delivery, exhausted)) }
  const due = nextRetry({
    attempt: await countScheduledAttempts(tx, delivery.id),
    nowMs: now,
    random: Math.random,
    retryAfter: result.retryAfter,
    ...(endpoint?.retrySchedule && { schedule: [0, ...endpoint.retrySchedule] }),
  })
  if (due === null) return { ...recorded, ...(await finishDelivery(tx, hub, delivery, exhausted)) }
  const blocked = blockReasonOf(endpoint)
  if (blocked === 'endpoint_deleted') {
    return { ...recorded, ...(await finishDelivery(tx, hub, delivery, { status: 'canceled', reason: blocked })) }
  }
  if (blocked) {
    await updateOpenDelivery(tx, delivery, { status: 'held', reason: blocked, updatedAt: now })
    return recorded
  }
  // A delivery that was resent out of order goes back to its place.
  if (endpoint?.ordering === 'per_resource' && (await hasEarlierOpen(tx, delivery))) {
    await updateOpenDelivery(tx, delivery, { status: 'held', reason: waitingForEarlier, updatedAt: now })
    return recorded
  }
  await updateOpenDelivery(tx, delivery, { status: 'retrying', reason: result.reason, nextAttemptAt: due, updatedAt: now })
  return { ...recorded, jobs: [deliverJobFor({ ...delivery, attemptCount: delivery.attemptCount + 1 }, due)] }
}

/** Holds or cancels a delivery because of its endpoint, unless the endpoint was resumed in the meantime. */
async function hold(tx: Tx, hub: Hub, delivery: Delivery, payload: DeliverPayload): Promise<Outcome> {
  const blocked = blockReasonOf(await lockEndpoint(tx, delivery.endpointId))
  if (blocked === null) return { result: undefined, jobs: [deliverJobFor(delivery, hub.clock.now(), payload)] }
  if (blocked === 'endpoint_deleted') return await finishDelivery(tx, hub, delivery, { status: 'canceled', reason: blocked })
  await updateOpenDelivery(tx, delivery, { status: 'held', reason: blocked, nextAttemptAt: null, updatedAt: hub.clock.now() })
  return { result: undefined }
}
