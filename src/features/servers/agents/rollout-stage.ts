/** The share of agents that is updated first. */
const firstShare = 0.05
/** How long the first agents must run the new version before the others are updated (ms). */
export const observedMs = 3_600_000
/** So many agents of a workspace are updated at once. */
const maxAtOnce = 10

/** The agents of a workspace that are updated automatically to a version, counted since the rollout began. */
export interface RolloutCounts {
  /** Agents with an older version. */
  waiting: number
  updating: number
  updated: number
  /** When the last of them was updated (ms UTC); null if none was. */
  lastAt: number | null
}

/** How far a rollout is. */
interface Stage {
  /** Number of agents that are updated first; null before the first update. */
  firstCount: number | null
  /** When the others are updated (ms UTC); null while the first ones are. */
  restAt: number | null
}

/** The next stage of a rollout, and how many agents may be updated now. */
export function nextStage({ firstCount, restAt }: Stage, counts: RolloutCounts, now: number): Stage & { room: number } {
  const { waiting, updating, updated, lastAt } = counts
  const first = firstCount ?? Math.max(1, Math.ceil(firstShare * (waiting + updating + updated)))
  if (restAt === null && updating === 0 && updated >= first) {
    const until = lastAt! + observedMs
    return { firstCount: first, restAt: until, room: now < until ? 0 : maxAtOnce }
  }
  const room = restAt === null ? Math.min(first - updated, maxAtOnce) : now < restAt ? 0 : maxAtOnce
  return { firstCount: first, restAt, room: Math.max(0, room - updating) }
}
