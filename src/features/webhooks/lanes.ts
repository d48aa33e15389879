import type { LaneRules } from '../../core/jobs/lanes'
import { isSlow } from './recent-tries'
import { workspaceAllowance } from './workspace-pace'

/** First tries of messages. */
export const firstTry = 10
/** Retries, and what a recovery sends again: news go before them. */
export const laterTry = 100

const byHand = '/by-hand'

/** How deliveries share what one process sends at once: each endpoint is a lane, and each workspace a group. */
export const deliveryLanes: LaneRules = {
  ranks: [firstTry, laterTry],
  mostInLane: 8,
  mostInGroup: 64,
  laterShare: 0.5,
  slowShare: 0.25,
  isSlow: (hub, lane) => isSlow(hub, lane.split('/')[1]!),
  rate: { allowance: workspaceAllowance, exempts: lane => lane.endsWith(byHand) },
}

/** The lane of an endpoint's deliveries. */
export const laneOf = ({ workspaceId, endpointId }: { workspaceId: string; endpointId: string }): string =>
  `${workspaceId}/${endpointId}`

/** The lane of what somebody sends again by hand: it goes out also while the endpoint is left alone. */
export const laneByHand = (delivery: { workspaceId: string; endpointId: string }): string => `${laneOf(delivery)}${byHand}`
