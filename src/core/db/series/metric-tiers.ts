const minuteMs = 60_000
const dayMs = 86_400_000

/** A resolution in which measurements are stored. */
export interface Tier {
  /** Part of its table names. */
  name: string
  /** Length of a row. */
  stepMs: number
  /** How long rows are kept. */
  keepDays: number
  /** Days in one table, which is dropped as a whole. */
  tableDays: number
}

/** From fine to coarse. Each is computed from the one before, and a row of it from rows of one table. */
export const tiers = [
  { name: 'm1', stepMs: minuteMs, keepDays: 2, tableDays: 1 },
  { name: 'm10', stepMs: 10 * minuteMs, keepDays: 14, tableDays: 1 },
  { name: 'h1', stepMs: 60 * minuteMs, keepDays: 90, tableDays: 10 },
  { name: 'h6', stepMs: 360 * minuteMs, keepDays: 730, tableDays: 73 },
] as const satisfies readonly Tier[]

/** The number of the table with a row. @param place number of the row since 1970 */
export const tableNumberOf = ({ stepMs, tableDays }: Tier, place: number): number =>
  Math.floor((place * stepMs) / (tableDays * dayMs))

/** The time of the oldest rows of a tier (ms UTC). @param days retention of the plan; null for no limit */
export const keptSince = ({ keepDays }: Pick<Tier, 'keepDays'>, now: number, days: number | null): number =>
  now - Math.min(keepDays, days ?? keepDays) * dayMs

/** The coarsest tier that can be summed up to points of a step and is kept since a time; null if the step is too short for that. */
export const tierFor = (stepMs: number, from: number, now: number): Tier | null =>
  tiers.toReversed().find(tier => stepMs % tier.stepMs === 0 && keptSince(tier, now, null) <= from) ?? null
