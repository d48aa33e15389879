import type { JobDraft } from '../../core/jobs/queue'
import { firstTry, laneByHand, laneOf, laterTry } from './lanes'
import type { AttemptTrigger, webhookDeliveries } from './tables'

export type Delivery = typeof webhookDeliveries.$inferSelect

/** What a job of the kind `webhooks.deliver` is given. */
export type DeliverPayload = {
  delivery_id: string
  /** The delivery's version when the job was asked for: a resend raises it, and whatever was under way before is void. */
  version: number
  /** A resend somebody asked for, and not a try of the schedule. */
  manual?: boolean
  /** A try by which an endpoint is to catch up; like a resend, it uses up none of the schedule. */
  recovery?: boolean
  /** The endpoint's limit of tries a second was waited for, and the turn is this one's. */
  turn?: boolean
}

/** Why a job makes its try. */
export const triggerOf = ({ manual, recovery }: DeliverPayload): AttemptTrigger =>
  manual ? 'manual' : recovery ? 'recovery' : 'auto'

export const deliverKind = 'webhooks.deliver'

/**
 * The job of a delivery's next try. A delivery has one waiting job at most, and the latest draft is the one that counts. Each
 * try is a job of its own: the queue sets aside jobs that were taken too often, which a long schedule must not come near.
 */
export function deliverJobFor(
  delivery: Pick<Delivery, 'id' | 'workspaceId' | 'endpointId' | 'version' | 'attemptCount'>,
  at: number,
  more: Omit<DeliverPayload, 'delivery_id' | 'version'> = {},
): JobDraft {
  return {
    kind: deliverKind,
    payload: { delivery_id: delivery.id, version: delivery.version, ...more },
    lane: more.manual ? laneByHand(delivery) : laneOf(delivery),
    priority: more.manual || (delivery.attemptCount === 0 && !more.recovery) ? firstTry : laterTry,
    runAt: at,
    uniqueKey: delivery.id,
    replaces: true,
  }
}

/** Pauses after a run that broke on our side: doubling from 1 s to 5 min, without an end, since no delivery may be lost. */
export const untilDone = (attempts: number): number => Math.min(1_000 * 2 ** (attempts - 1), 300_000)
