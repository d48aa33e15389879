import type { CheckResult } from '../../checks/check'
import type { Hub } from '../../core/hub'

/** What this hub remembers of a monitor that it checks. Times in ms UTC. */
export interface Latest {
  result: CheckResult
  nextCheckAt: number | null
}

const ofHub = new WeakMap<Hub, Map<string, Latest>>()

/** The last result of each monitor that this hub checks, by the monitor's id; whoever takes results writes it. */
export function latestOf(hub: Hub): Map<string, Latest> {
  let latest = ofHub.get(hub)
  if (!latest) ofHub.set(hub, (latest = new Map()))
  return latest
}
