import { and, eq, gt, lt, lte, sql, type SQL } from 'drizzle-orm'
import { jobs } from '../db/tables'
import type { Reader } from '../db/transaction'
import type { Hub } from '../hub'
import type { JobKind } from './job'

const pauseMs = 60_000

type Rules = Pick<JobKind, 'kind' | 'lanes'>

/** Tells the log of due jobs that nobody will ever take: they stand in a lane, or have a priority, that the rules of their kind leave out. */
export class Untakeable {
  private readonly lookedAt = new Map<string, number>()

  constructor(private readonly hub: Pick<Hub, 'clock' | 'log' | 'read'>) {}

  /** Looks once a minute for each kind, however often it is asked to. */
  async report(kind: Rules): Promise<void> {
    const { clock, log, read } = this.hub
    const now = clock.now()
    if (now < (this.lookedAt.get(kind.kind) ?? -Infinity) + pauseMs) return
    this.lookedAt.set(kind.kind, now)
    const job = await oneUntakeable(read, kind, now)
    if (job === null) return
    const { id, lane, priority } = job
    log.error({ kind: kind.kind, lane, priority, job: id }, `a job is never taken: ${reason(kind, lane)}`)
  }
}

function reason({ lanes }: Pick<JobKind, 'lanes'>, lane: string): string {
  if (!lanes) return 'it has a lane, and its kind has no rules for lanes'
  return lane === '' ? 'it has no lane, and its kind has rules for lanes' : 'its priority is not among the ranks of its kind'
}

interface Found {
  id: string
  lane: string
  priority: number
}

/** A due job of a kind that its rules leave out, if there is one. Goes through nothing that waits its turn, however much that is. */
async function oneUntakeable(read: Reader, { kind, lanes }: Rules, now: number): Promise<Found | null> {
  const due = and(eq(jobs.state, 'ready'), eq(jobs.kind, kind), lte(jobs.runAt, now))!
  const [inWrongLane] = await read
    .select(members)
    .from(jobs)
    .where(and(due, lanes ? eq(jobs.lane, '') : gt(jobs.lane, '')))
    .limit(1)
  if (inWrongLane || !lanes) return inWrongLane ?? null
  const [withoutRank] = await read
    .select({ id: sql<string>`odd.id`, lane: sql<string>`odd.lane`, priority: sql<number>`odd.priority`.mapWith(Number) })
    .from(
      sql`(with recursive lanes(name) as (
        select min(${jobs.lane}) from ${jobs} where ${ofKind(kind)} and ${jobs.lane} > ''
        union all
        select (select min(${jobs.lane}) from ${jobs} where ${ofKind(kind)} and ${jobs.lane} > lanes.name)
        from lanes where lanes.name is not null)
        ${sql.join(
          // Each gap is a stretch of the index for each lane, and empty where all is well.
          gapsIn(lanes.ranks).map(
            gap => sql`select ${jobs.id} as id, ${jobs.lane} as lane, ${jobs.priority} as priority
              from lanes join ${jobs} on ${jobs.lane} = lanes.name where ${due} and ${gap}`,
          ),
          sql` union all `,
        )} limit 1) as odd`,
    )
  return withoutRank ?? null
}

const members = { id: jobs.id, lane: jobs.lane, priority: jobs.priority }

const ofKind = (kind: string): SQL => and(eq(jobs.state, 'ready'), eq(jobs.kind, kind))!

/** The priorities that are no rank, stretch by stretch. */
function gapsIn(ranks: readonly number[]): SQL[] {
  const sorted = [...ranks].sort((a, b) => a - b)
  return [
    lt(jobs.priority, sorted[0]!),
    ...sorted.slice(1).map((rank, place) => and(gt(jobs.priority, sorted[place]!), lt(jobs.priority, rank))!),
    gt(jobs.priority, sorted.at(-1)!),
  ]
}
