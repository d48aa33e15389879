import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { locking } from '../db/dialect'
import { prepared } from '../db/prepared'
import { heldLanes, jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { LaneRoom, LaneRules } from './lanes'
import { holdLane, keepHold } from './lane-holds'

/** What came of going round the lanes. */
export interface Turns {
  ids: string[]
  /** The lane that was served last: the next round begins behind it. */
  lastLane: string
  /** When what is due but held can be taken (ms UTC); Infinity when nothing is held. */
  heldUntil: number
  /** Another hub has something that is due in its hands just now. */
  contended: boolean
  /** Something due was left for want of room. */
  crowded: boolean
}

interface Asked {
  kind: string
  rules: LaneRules
  room: LaneRoom
  now: number
  leaseMs: number
  limit: number
  /** The lane behind which the round begins. */
  after: string
}

// What one lane gets before it is the next one's turn. All jobs count alike, so that deficit round robin is a plain round.
const quantum = 4
const lanesPerPage = 64

/** Chooses due jobs lane by lane, once round at most, so that a lane with ten thousand waiting costs another one turn and no more. */
export async function takeTurns(tx: Tx, asked: Asked): Promise<Turns> {
  const turns: Turns = { ids: [], lastLane: asked.after, heldUntil: Infinity, contended: false, crowded: false }
  const start = asked.after
  let after = start
  let wrapped = false
  for (;;) {
    const lanes = await dueLanes(tx, asked, after)
    for (const { lane, heldUntil } of lanes) {
      if (wrapped && lane > start) return turns
      if (turns.ids.length >= asked.limit || asked.room.full) return { ...turns, crowded: true }
      await serve(tx, asked, turns, lane, heldUntil)
    }
    if (lanes.length === lanesPerPage) after = lanes.at(-1)!.lane
    else if (wrapped || start === '') return turns
    else {
      wrapped = true
      after = ''
    }
  }
}

async function serve(tx: Tx, asked: Asked, turns: Turns, lane: string, heldUntil: number | null): Promise<void> {
  const { room, rules, kind, now } = asked
  if (heldUntil !== null && heldUntil > now) {
    turns.heldUntil = Math.min(turns.heldUntil, heldUntil)
    return
  }
  // Freed or taken by another hub since the lanes were read: held again here, a lane that is free would stay held for ever.
  if (heldUntil !== null && !(await keepHold(tx, kind, lane, now))) {
    turns.contended = true
    return
  }
  const most = heldUntil === null ? quantum : 1
  let took = 0
  let looked = false
  for (const rank of rules.ranks) {
    const limit = Math.min(most - took, room.of(lane, rank), asked.limit - turns.ids.length)
    if (limit <= 0) {
      turns.crowded ||= took < most
      continue
    }
    looked = true
    for (const { id } of await dueIn(tx).execute({ kind, lane, rank, now, limit })) {
      turns.ids.push(id)
      room.take(lane, rank)
      took++
    }
  }
  if (took === 0) {
    turns.contended ||= looked
    return
  }
  turns.lastLane = lane
  // The one job that tries whether the lane may be freed: until it has ended, or its lease has, no hub takes a second one.
  if (heldUntil !== null) await holdLane(tx, kind, lane, now + asked.leaseMs)
}

const dueIn = (tx: Tx) =>
  prepared(tx, 'jobs-due-in-lane', (read: Tx) =>
    locking(
      read
        .select({ id: jobs.id })
        .from(jobs)
        .where(
          and(
            eq(jobs.state, 'ready'),
            eq(jobs.kind, sql.placeholder('kind')),
            eq(jobs.lane, sql.placeholder('lane')),
            eq(jobs.priority, sql.placeholder('rank')),
            lte(jobs.runAt, sql.placeholder('now')),
          ),
        )
        .orderBy(asc(jobs.runAt))
        .limit(sql.placeholder('limit')),
      'skip',
    ),
  )

/** The next lanes with something due, in the order of their names; those that are held are among them. */
async function dueLanes(
  tx: Tx,
  { kind, rules, now }: Asked,
  after: string,
): Promise<{ lane: string; heldUntil: number | null }[]> {
  const page = prepared(tx, `due-lanes|${rules.ranks.length}`, (read: Tx) => {
    const ready = sql`${jobs.state} = 'ready' and ${jobs.kind} = ${sql.placeholder('kind')}`
    // By rank, since within one the index has the times in order: what waits for later is not gone through.
    const due = rules.ranks.map(
      (_, n) => sql`exists (select 1 from ${jobs} where ${ready} and ${jobs.lane} = lanes.name
        and ${jobs.priority} = ${sql.placeholder(`rank${n}`)} and ${jobs.runAt} <= ${sql.placeholder('now')})`,
    )
    // Hops from one lane to the next in the index, whatever waits in each.
    return read
      .select({
        lane: sql<string>`turns.lane`,
        heldUntil: sql<number | null>`turns.held_until`.mapWith(value => (value === null ? null : Number(value))),
      })
      .from(
        sql`(with recursive lanes(name) as (
          select min(${jobs.lane}) from ${jobs} where ${ready} and ${jobs.lane} > ${sql.placeholder('after')}
          union all
          select (select min(${jobs.lane}) from ${jobs} where ${ready} and ${jobs.lane} > lanes.name)
          from lanes where lanes.name is not null)
        select lanes.name as lane, (select ${heldLanes.heldUntil} from ${heldLanes}
          where ${heldLanes.kind} = ${sql.placeholder('kind')} and ${heldLanes.lane} = lanes.name) as held_until
        from lanes where lanes.name is not null and (${sql.join(due, sql` or `)})
        limit ${lanesPerPage}) as turns`,
      )
  })
  const ranks = Object.fromEntries(rules.ranks.map((rank, n) => [`rank${n}`, rank]))
  return await page.execute({ kind, now, after, ...ranks })
}
