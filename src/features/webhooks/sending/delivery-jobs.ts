import type { JobDraft } from '../../../core/jobs/draft'
import { firstAttemptPriority, manualLane, endpointLane, retryPriority } from './lanes'
import type { AttemptTrigger, webhookDeliveries } from '../deliveries/tables'

export type Delivery = typeof webhookDeliveries.$inferSelect

/** Payload of `webhooks.deliver` jobs. */
export type DeliverPayload = {
  delivery_id: string
  /** Version of the delivery when the job was created. A resend increments it, which voids earlier jobs. */
  version: number
  /** A manual resend, not an attempt of the schedule. */
  manual?: boolean
  /** Part of a recovery. Like a resend, it doesn't count against the schedule. */
  recovery?: boolean
  /** A slot of the endpoint's rate limit is reserved for this attempt. */
  rate_slot?: boolean
}

/** The trigger of a job's attempt. */
export const triggerOf = ({ manual, recovery }: DeliverPayload): AttemptTrigger =>
  manual ? 'manual' : recovery ? 'recovery' : 'auto'

export const deliverKind = 'webhooks.deliver'

/**
 * The job of the next attempt. A delivery has at most one waiting job, and a new one replaces it. Each attempt is a separate job,
 * because the queue stops running a job after too many runs, and a long schedule must not reach that limit.
 */
export function deliverJobFor(
  delivery: Pick<Delivery, 'id' | 'workspaceId' | 'endpointId' | 'version' | 'attemptCount'>,
  at: number,
  more: Omit<DeliverPayload, 'delivery_id' | 'version'> = {},
): JobDraft {
  return {
    kind: deliverKind,
    payload: { delivery_id: delivery.id, version: delivery.version, ...more },
    lane: more.manual ? manualLane(delivery) : endpointLane(delivery),
    priority: more.manual || (delivery.attemptCount === 0 && !more.recovery) ? firstAttemptPriority : retryPriority,
    runAt: at,
    uniqueKey: delivery.id,
    replaces: true,
  }
}
