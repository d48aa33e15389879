import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'

/**
 * How the lanes of a kind share the concurrency of a process. Lanes are served by round robin. The group of a lane is its name up
 * to the first slash.
 */
export interface LaneRules {
  /** The priorities of its jobs: the first is for first runs, all others are for retries. */
  ranks: readonly number[]
  /** Maximum number of concurrent runs per lane. */
  maxPerLane: number
  /** Maximum number of concurrent runs per group. */
  maxPerGroup: number
  /** Maximum share of retries in the runs of the process and of each group, from 0 to 1. */
  retryShare: number
  /** Maximum share of slow lanes in the runs of the process and of each group, from 0 to 1. */
  slowShare: number
  /** Whether the runs of a lane take so long that a few such lanes could use up all concurrency. */
  isSlow(hub: Hub, lane: string): boolean
  /** Rate limit per group across all processes. */
  rateLimit?: GroupRateLimit
}

/** Limits the number of runs over time. Jobs above the limit stay in the queue. */
interface GroupRateLimit {
  /**
   * Returns how many runs a group can start now; null if unlimited. Called once per claim, in its transaction. The started runs
   * are counted in the same transaction, so that no other process uses the same allowance.
   */
  allowance(tx: Tx, hub: Hub, group: string): Promise<Allowance | null>
  /** Whether a lane is exempt from the limit. */
  exempts(lane: string): boolean
}

export interface Allowance {
  /**
   * Runs that can start now. First runs take precedence over retries of the group, as long as a full round over all lanes is
   * possible.
   */
  left: number
  /** If none are left: when there will be more (ms UTC), or null while another process has locked the group. */
  until: number | null
}

/** Lanes served by round robin, each with one run at a time. */
export const sequentialLanes: LaneRules = {
  ranks: [100],
  maxPerLane: 1,
  maxPerGroup: Infinity,
  retryShare: 1,
  slowShare: 1,
  isSlow: () => false,
}

/** A running job, as far as relevant for lanes. */
interface Runner {
  lane: string
  priority: number
}

interface Load {
  all: number
  retries: number
  slow: number
}

/** The group of a lane. */
export const groupOf = (lane: string): string => lane.split('/', 1)[0]!

/** Tracks how many more runs can start. */
export class LaneCapacity {
  private readonly process: Load = { all: 0, retries: 0, slow: 0 }
  private readonly groups = new Map<string, Load>()
  private readonly lanes = new Map<string, number>()
  private readonly slow = new Map<string, boolean>()

  /** @param max concurrent runs of the kind in this process */
  constructor(
    private readonly hub: Hub,
    private readonly rules: LaneRules,
    private readonly max: number,
    running: Iterable<Runner>,
  ) {
    for (const one of running) this.reserve(one.lane, one.priority)
  }

  /** Whether all capacity is in use. */
  get full(): boolean {
    return this.process.all >= this.max
  }

  /** Whether no further run can start in a group. */
  isGroupFull(group: string): boolean {
    return (this.groups.get(group)?.all ?? 0) >= this.rules.maxPerGroup
  }

  /** How many more runs of a rank can start in a lane. */
  available(lane: string, rank: number): number {
    const { maxPerLane, maxPerGroup, retryShare, slowShare } = this.rules
    let free = maxPerLane - (this.lanes.get(lane) ?? 0)
    for (const [load, max] of [
      [this.process, this.max],
      [this.groups.get(groupOf(lane)), maxPerGroup],
    ] as const) {
      free = Math.min(free, max - (load?.all ?? 0))
      if (this.isRetry(rank)) free = Math.min(free, Math.ceil(max * retryShare) - (load?.retries ?? 0))
      if (this.isSlow(lane)) free = Math.min(free, Math.ceil(max * slowShare) - (load?.slow ?? 0))
    }
    return Math.max(0, free)
  }

  reserve(lane: string, rank: number): void {
    const group = groupOf(lane)
    let own = this.groups.get(group)
    if (!own) this.groups.set(group, (own = { all: 0, retries: 0, slow: 0 }))
    for (const load of [this.process, own]) {
      load.all++
      if (this.isRetry(rank)) load.retries++
      if (this.isSlow(lane)) load.slow++
    }
    this.lanes.set(lane, (this.lanes.get(lane) ?? 0) + 1)
  }

  private isRetry(rank: number): boolean {
    return rank !== this.rules.ranks[0]
  }

  private isSlow(lane: string): boolean {
    let slow = this.slow.get(lane)
    if (slow === undefined) this.slow.set(lane, (slow = this.rules.isSlow(this.hub, lane)))
    return slow
  }
}
