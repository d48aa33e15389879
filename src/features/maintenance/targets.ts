/** What a maintenance window is for: everything, or what one of these names. */
export interface Targets {
  all: boolean
  monitors: string[]
  heartbeats: string[]
  /** Groups: the monitors in them, and themselves. */
  groups: string[]
  tags: string[]
}

export const noTargets: Targets = { all: false, monitors: [], heartbeats: [], groups: [], tags: [] }

/** A monitor or heartbeat, as windows look for it. `groupIds`: the groups that it is in, directly or not. */
export interface Covered {
  id: string
  tags: readonly string[]
  groupIds: readonly string[]
}

export const isCovered = (targets: Targets, { id, tags, groupIds }: Covered): boolean =>
  targets.all ||
  targets.monitors.includes(id) ||
  targets.heartbeats.includes(id) ||
  targets.groups.includes(id) ||
  groupIds.some(group => targets.groups.includes(group)) ||
  tags.some(tag => targets.tags.includes(tag))
