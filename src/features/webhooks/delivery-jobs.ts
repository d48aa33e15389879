import type { JobDraft } from '../../core/jobs/queue'
import type { webhookDeliveries } from './tables'

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
  /** How often the try was put off because the endpoint had too many in flight. */
  waits?: number
}

export const deliverKind = 'webhooks.deliver'

/**
 * The job of a delivery's next try. A delivery has one waiting job at most, and the latest draft is the one that counts. Each
 * try is a job of its own: the queue sets aside jobs that were taken too often, which a long schedule must not come near.
 */
export function deliverJobFor(
  delivery: Pick<Delivery, 'id' | 'endpointId' | 'version' | 'attemptCount'>,
  at: number,
  more: Omit<DeliverPayload, 'delivery_id' | 'version'> = {},
): JobDraft {
  return {
    kind: deliverKind,
    payload: { delivery_id: delivery.id, version: delivery.version, ...more },
    lane: delivery.endpointId,
    // First tries go before retries: an endpoint that is down must not keep news from the others. Neither must what is old.
    priority: delivery.attemptCount === 0 && !more.recovery ? 10 : 100,
    runAt: at,
    uniqueKey: delivery.id,
    replaces: true,
  }
}

/** Pauses after a run that broke on our side: doubling from 1 s to 5 min, without an end, since no delivery may be lost. */
export const untilDone = (attempts: number): number => Math.min(1_000 * 2 ** (attempts - 1), 300_000)
