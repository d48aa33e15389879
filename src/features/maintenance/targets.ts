/** What a maintenance window covers: everything, or what matches any of these fields. */
export interface Targets {
  all: boolean
  monitors: string[]
  heartbeats: string[]
  /** Covers the groups and the monitors in them. */
  groups: string[]
  tags: string[]
}

export const noTargets: Targets = { all: false, monitors: [], heartbeats: [], groups: [], tags: [] }

/** A monitor or heartbeat. `groupIds`: the groups it belongs to, directly or indirectly. */
export interface CoveredResource {
  id: string
  tags: readonly string[]
  groupIds: readonly string[]
}

export const isCovered = (targets: Targets, { id, tags, groupIds }: CoveredResource): boolean =>
  targets.all ||
  targets.monitors.includes(id) ||
  targets.heartbeats.includes(id) ||
  targets.groups.includes(id) ||
  groupIds.some(group => targets.groups.includes(group)) ||
  tags.some(tag => targets.tags.includes(tag))
