import { and, eq, gt, lt, lte, sql, type SQL } from 'drizzle-orm'
import { jobs } from '../db/tables'
import type { Reader } from '../db/transaction'
import type { Hub } from '../hub'
import type { JobKind } from './job'

const pauseMs = 60_000

type Rules = Pick<JobKind, 'kind' | 'lanes'>

/** Logs due jobs that will never be claimed, because their lane or priority doesn't match the rules of their kind. */
export class UnclaimableJobs {
  private readonly checkedAt = new Map<string, number>()

  constructor(private readonly hub: Pick<Hub, 'clock' | 'log' | 'read'>) {}

  /** Checks a kind at most once a minute. */
  async report(kind: Rules): Promise<void> {
    const { clock, log, read } = this.hub
    const now = clock.now()
    if (now < (this.checkedAt.get(kind.kind) ?? -Infinity) + pauseMs) return
    this.checkedAt.set(kind.kind, now)
    const job = await findUnclaimable(read, kind, now)
    if (job === null) return
    const { id, lane, priority } = job
    log.error({ kind: kind.kind, lane, priority, job: id }, `a job will never be claimed: ${reason(kind, lane)}`)
  }
}

function reason({ lanes }: Pick<JobKind, 'lanes'>, lane: string): string {
  if (!lanes) return 'it has a lane, but its kind has no lane rules'
  return lane === '' ? 'it has no lane, but its kind has lane rules' : 'its priority is not a rank of its kind'
}

interface Found {
  id: string
  lane: string
  priority: number
}

/** Finds a due job that doesn't match the rules of its kind. Does not scan other waiting jobs. */
async function findUnclaimable(read: Reader, { kind, lanes }: Rules, now: number): Promise<Found | null> {
  const due = and(eq(jobs.state, 'ready'), eq(jobs.kind, kind), lte(jobs.runAt, now))!
  const [inWrongLane] = await read
    .select(members)
    .from(jobs)
    .where(and(due, lanes ? eq(jobs.lane, '') : gt(jobs.lane, '')))
    .limit(1)
  if (inWrongLane || !lanes) return inWrongLane ?? null
  const [withoutRank] = await read
    .select({
      id: sql<string>`unmatched.id`,
      lane: sql<string>`unmatched.lane`,
      priority: sql<number>`unmatched.priority`.mapWith(Number),
    })
    .from(
      sql`(with recursive lanes(name) as (
        select min(${jobs.lane}) from ${jobs} where ${ofKind(kind)} and ${jobs.lane} > ''
        union all
        select (select min(${jobs.lane}) from ${jobs} where ${ofKind(kind)} and ${jobs.lane} > lanes.name)
        from lanes where lanes.name is not null)
        ${sql.join(
          // Each gap between ranks is a range of the index for each lane, normally empty.
          gapsIn(lanes.ranks).map(
            gap => sql`select ${jobs.id} as id, ${jobs.lane} as lane, ${jobs.priority} as priority
              from lanes join ${jobs} on ${jobs.lane} = lanes.name where ${due} and ${gap}`,
          ),
          sql` union all `,
        )} limit 1) as unmatched`,
    )
  return withoutRank ?? null
}

const members = { id: jobs.id, lane: jobs.lane, priority: jobs.priority }

const ofKind = (kind: string): SQL => and(eq(jobs.state, 'ready'), eq(jobs.kind, kind))!

/** Conditions for the priority ranges between ranks. */
function gapsIn(ranks: readonly number[]): SQL[] {
  const sorted = [...ranks].sort((a, b) => a - b)
  return [
    lt(jobs.priority, sorted[0]!),
    ...sorted.slice(1).map((rank, index) => and(gt(jobs.priority, sorted[index]!), lt(jobs.priority, rank))!),
    gt(jobs.priority, sorted.at(-1)!),
  ]
}
