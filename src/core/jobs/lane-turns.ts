import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { locking } from '../db/dialect'
import { prepared } from '../db/prepared'
import { heldLanes, jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { holdLane, keepHold } from './lane-holds'
import { groupOf, type Allowance, type LaneRoom, type LaneRules } from './lanes'

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
  hub: Hub
  kind: string
  rules: LaneRules
  room: LaneRoom
  now: number
  leaseMs: number
  limit: number
  /** The lane behind which the round begins. */
  after: string
  /** Groups whose later runs the last round came not to, for want of room. It is written back. */
  owed: Set<string>
}

interface DueLane {
  lane: string
  heldUntil: number | null
}

/** A group that may begin so many runs and no more. */
interface Limited extends Allowance {
  /** More first runs may be due, so that later ones have to wait. */
  firstsLeft: boolean
  /** Its later runs do not wait for the end of the round, which may never be reached while there is too much to do. */
  owed: boolean
  /** What was looked at for first runs, and how many more its turn allows. */
  lanes: { due: DueLane; most: number; took: number }[]
}

// What one lane gets before it is the next one's turn. All jobs count alike, so that deficit round robin is a plain round.
const quantum = 4
const lanesPerPage = 64

/** Chooses due jobs lane by lane, once round at most, so that a lane with ten thousand waiting costs another one turn and no more. */
export async function takeTurns(tx: Tx, asked: Asked): Promise<Turns> {
  const turns: Turns = { ids: [], lastLane: asked.after, heldUntil: Infinity, contended: false, crowded: false }
  const limits = new Map<string, Limited | null>()
  const complete = await goRound(tx, asked, turns, limits)
  if (complete) await serveLater(tx, asked, turns, limits)
  for (const [group, limited] of limits) {
    if (limited === null) continue
    if (complete || limited.owed) asked.owed.delete(group)
    else asked.owed.add(group)
  }
  return turns
}

/** False when it ended for want of room. */
async function goRound(tx: Tx, asked: Asked, turns: Turns, limits: Map<string, Limited | null>): Promise<boolean> {
  const start = asked.after
  let after = start
  let wrapped = false
  for (;;) {
    const lanes = await dueLanes(tx, asked, after)
    for (const due of lanes) {
      if (wrapped && due.lane > start) return true
      if (isFull(asked, turns)) return false
      await serve(tx, asked, turns, due, limits)
    }
    if (lanes.length === lanesPerPage) after = lanes.at(-1)!.lane
    else if (wrapped || start === '') return true
    else {
      wrapped = true
      after = ''
    }
  }
}

function isFull(asked: Asked, turns: Turns): boolean {
  if (turns.ids.length < asked.limit && !asked.room.full) return false
  turns.crowded = true
  return true
}

async function serve(tx: Tx, asked: Asked, turns: Turns, due: DueLane, limits: Map<string, Limited | null>): Promise<void> {
  const { rules, now } = asked
  const { lane, heldUntil } = due
  if (heldUntil !== null && heldUntil > now) {
    turns.heldUntil = Math.min(turns.heldUntil, heldUntil)
    return
  }
  // Freed or taken by another hub since the lanes were read: held again here, a lane that is free would stay held for ever.
  if (heldUntil !== null && !(await keepHold(tx, asked.kind, lane, now))) {
    turns.contended = true
    return
  }
  const most = heldUntil === null ? quantum : 1
  const limited = await limitOf(tx, asked, lane, limits)
  if (limited === null || limited.owed) {
    const { took, looked } = await take(tx, asked, turns, due, rules.ranks, most, limited)
    if (took === 0) turns.contended ||= looked
    return
  }
  const { took, more } = await take(tx, asked, turns, due, rules.ranks.slice(0, 1), most, limited)
  // The one that tries whether a held lane may be freed has no others behind it.
  if (more && heldUntil === null) limited.firstsLeft = true
  limited.lanes.push({ due, most: most - took, took })
}

/** Gives later runs what the first ones of their group left of its limit. */
async function serveLater(tx: Tx, asked: Asked, turns: Turns, limits: Map<string, Limited | null>): Promise<void> {
  const ranks = asked.rules.ranks.slice(1)
  for (const limited of limits.values()) {
    if (limited === null || limited.firstsLeft) continue
    for (const { due, most, took: before } of limited.lanes) {
      if (isFull(asked, turns)) return
      const { took, looked } = await take(tx, asked, turns, due, ranks, most, limited)
      if (before + took === 0) turns.contended ||= looked
    }
  }
}

/** The limit of a lane's group, as it stands in this claim; null for none. */
async function limitOf(tx: Tx, asked: Asked, lane: string, limits: Map<string, Limited | null>): Promise<Limited | null> {
  const { rate } = asked.rules
  if (!rate || rate.exempts(lane)) return null
  const group = groupOf(lane)
  let limited = limits.get(group)
  if (limited === undefined) {
    const allowance = await rate.allowance(tx, asked.hub, group)
    limited = allowance && { ...allowance, firstsLeft: false, owed: asked.owed.has(group), lanes: [] }
    limits.set(group, limited)
  }
  return limited
}

/** Takes up to `most` of a lane. `more` tells that others of its last rank may be due. */
async function take(
  tx: Tx,
  asked: Asked,
  turns: Turns,
  { lane, heldUntil }: DueLane,
  ranks: readonly number[],
  most: number,
  limited: Limited | null,
): Promise<{ took: number; looked: boolean; more: boolean }> {
  const { room, kind, now } = asked
  const taken = { took: 0, looked: false, more: false }
  for (const rank of ranks) {
    if (limited !== null && limited.left <= 0) {
      if (limited.until === null) turns.contended = true
      else turns.heldUntil = Math.min(turns.heldUntil, limited.until)
      break
    }
    const limit = Math.min(most - taken.took, room.of(lane, rank), asked.limit - turns.ids.length, limited?.left ?? Infinity)
    if (limit <= 0) {
      turns.crowded ||= taken.took < most
      continue
    }
    taken.looked = true
    const rows = await dueIn(tx).execute({ kind, lane, rank, now, limit })
    for (const { id } of rows) {
      turns.ids.push(id)
      room.take(lane, rank)
    }
    taken.took += rows.length
    taken.more = rows.length === limit
    if (limited !== null) limited.left -= rows.length
  }
  if (taken.took === 0) return taken
  turns.lastLane = lane
  // The one job that tries whether the lane may be freed: until it has ended, or its lease has, no hub takes a second one.
  if (heldUntil !== null) await holdLane(tx, kind, lane, now + asked.leaseMs)
  return taken
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
async function dueLanes(tx: Tx, { kind, rules, now }: Asked, after: string): Promise<DueLane[]> {
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
