import type { CheckResult } from '../../../checks/check'
import type { Hub } from '../../../core/hub'

/** The last result of a monitor, in memory. Times in ms UTC. */
interface Latest {
  result: CheckResult
  nextCheckAt: number | null
}

const ofHub = new WeakMap<Hub, Map<string, Latest>>()

/** The last result of each monitor that this hub checks, by monitor id. */
export function latestOf(hub: Hub): Map<string, Latest> {
  let latest = ofHub.get(hub)
  if (!latest) ofHub.set(hub, (latest = new Map()))
  return latest
}
