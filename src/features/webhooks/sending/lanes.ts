import type { LaneRules } from '../../../core/jobs/lanes'
import { isSlow } from './recent-attempts'
import { workspaceAllowance } from './workspace-rate'

/** Priority of first attempts. */
export const firstAttemptPriority = 10
/** Priority of retries and recoveries, which come after first attempts. */
export const retryPriority = 100

const manual = '/manual'

/** How deliveries share the concurrency of a process: each endpoint is a lane, and each workspace a group. */
export const deliveryLanes: LaneRules = {
  ranks: [firstAttemptPriority, retryPriority],
  maxPerLane: 8,
  maxPerGroup: 64,
  retryShare: 0.5,
  slowShare: 0.25,
  isSlow: (hub, lane) => isSlow(hub, lane.split('/')[1]!),
  rateLimit: { allowance: workspaceAllowance, exempts: lane => lane.endsWith(manual) },
}

/** The lane of the deliveries of an endpoint. */
export const endpointLane = ({ workspaceId, endpointId }: { workspaceId: string; endpointId: string }): string =>
  `${workspaceId}/${endpointId}`

/** The lane of manual resends, which are sent even while the breaker of the endpoint is open. */
export const manualLane = (delivery: { workspaceId: string; endpointId: string }): string => `${endpointLane(delivery)}${manual}`
