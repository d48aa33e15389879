import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import type { ClaimedJob } from './job'

/**
 * How the lanes of a kind share what one process runs at once. Lanes take turns. A lane's group is its name up to the first
 * slash.
 */
export interface LaneRules {
  /** The priorities its jobs have: the first is that of first runs, all others are later ones. */
  ranks: readonly number[]
  /** Runs of one lane at once. */
  mostInLane: number
  /** Runs of one group at once. */
  mostInGroup: number
  /** What later ranks may take at most of the runs of the process and of each group, from 0 to 1. */
  laterShare: number
  /** What slow lanes together may take at most of the runs of the process and of each group, from 0 to 1. */
  slowShare: number
  /** Whether a lane's runs last so long that a few like it would take all there is. */
  isSlow(hub: Hub, lane: string): boolean
  /** How many runs a group begins in a stretch of time, over all processes; absent where groups have no such limit. */
  rate?: GroupRate
}

/** A limit of runs in a stretch of time. What is above it stays in the queue, untouched. */
export interface GroupRate {
  /**
   * What a group may begin now; null for a group without a limit. Asked once a claim, in its transaction, and what comes of that
   * claim is counted in the same one: until it ends no other process is told that anything is left.
   */
  allowance(tx: Tx, hub: Hub, group: string): Promise<Allowance | null>
  /** Whether a lane goes past the limit. */
  exempts(lane: string): boolean
}

export interface Allowance {
  /** Runs that may begin now. First runs have them before all later ones of the group, as long as there is room to go round all lanes. */
  left: number
  /** Where none is left: when there is more (ms UTC), or null while another process has the group in its hands. */
  until: number | null
}

/** Lanes that take turns, each with one run at a time. */
export const inTurns: LaneRules = {
  ranks: [100],
  mostInLane: 1,
  mostInGroup: Infinity,
  laterShare: 1,
  slowShare: 1,
  isSlow: () => false,
}

/** A job under way, as far as lanes care. */
export type Runner = Pick<ClaimedJob, 'lane' | 'priority'>

interface Load {
  all: number
  later: number
  slow: number
}

/** What a lane's runs are counted under. */
export const groupOf = (lane: string): string => lane.split('/', 1)[0]!

/** What may still be started beside what is under way. */
export class LaneRoom {
  private readonly process: Load = { all: 0, later: 0, slow: 0 }
  private readonly groups = new Map<string, Load>()
  private readonly lanes = new Map<string, number>()
  private readonly slow = new Map<string, boolean>()

  /** @param most runs of the kind at once in this process */
  constructor(
    private readonly hub: Hub,
    private readonly rules: LaneRules,
    private readonly most: number,
    underWay: Iterable<Runner>,
  ) {
    for (const one of underWay) this.take(one.lane, one.priority)
  }

  /** Whether nothing more may be started at all. */
  get full(): boolean {
    return this.process.all >= this.most
  }

  /** How many more runs of a rank a lane may start. */
  of(lane: string, rank: number): number {
    const { mostInLane, mostInGroup, laterShare, slowShare } = this.rules
    let room = mostInLane - (this.lanes.get(lane) ?? 0)
    for (const [load, most] of [
      [this.process, this.most],
      [this.groups.get(groupOf(lane)), mostInGroup],
    ] as const) {
      room = Math.min(room, most - (load?.all ?? 0))
      if (this.isLater(rank)) room = Math.min(room, Math.ceil(most * laterShare) - (load?.later ?? 0))
      if (this.isSlow(lane)) room = Math.min(room, Math.ceil(most * slowShare) - (load?.slow ?? 0))
    }
    return Math.max(0, room)
  }

  take(lane: string, rank: number): void {
    const group = groupOf(lane)
    let own = this.groups.get(group)
    if (!own) this.groups.set(group, (own = { all: 0, later: 0, slow: 0 }))
    for (const load of [this.process, own]) {
      load.all++
      if (this.isLater(rank)) load.later++
      if (this.isSlow(lane)) load.slow++
    }
    this.lanes.set(lane, (this.lanes.get(lane) ?? 0) + 1)
  }

  private isLater(rank: number): boolean {
    return rank !== this.rules.ranks[0]
  }

  private isSlow(lane: string): boolean {
    let slow = this.slow.get(lane)
    if (slow === undefined) this.slow.set(lane, (slow = this.rules.isSlow(this.hub, lane)))
    return slow
  }
}
