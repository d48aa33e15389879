import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { forUpdate } from '../db/dialect'
import { prepared } from '../db/prepared'
import { heldLanes, jobs } from '../db/tables'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { holdLane, lockLaneHold } from './lane-holds'
import { groupOf, type Allowance, type LaneCapacity, type LaneRules } from './lanes'

/** Result of a claim across lanes. */
export interface LaneClaim {
  ids: string[]
  /** The last lane that was served. The next round starts after it. */
  lastLane: string
  /** When due jobs of held lanes can be claimed (ms UTC); Infinity if there are none. */
  heldUntil: number
  /** Another hub has locked some due jobs. */
  contended: boolean
  /** Some due jobs were skipped because of concurrency limits. */
  atCapacity: boolean
}

interface ClaimRequest {
  hub: Hub
  kind: string
  rules: LaneRules
  capacity: LaneCapacity
  now: number
  leaseMs: number
  limit: number
  /** The round starts after this lane. */
  after: string
  /** Groups whose retries the last round didn't reach because of concurrency limits. Updated by the claim. */
  starvedGroups: Set<string>
}

interface DueLane {
  lane: string
  heldUntil: number | null
  /** Which ranks have due jobs, in the order of the rules. */
  due: readonly boolean[]
}

/** A group with a rate limit. */
interface Limited extends Allowance {
  /** More first runs may be due, so retries have to wait. */
  firstsLeft: boolean
  /** Its retries are served right away, because under heavy load a round may never complete. */
  starved: boolean
  /** Lanes already served with first runs, and how many more runs each can start in this round. */
  lanes: { due: DueLane; max: number; claimed: number }[]
}

// Jobs per lane and round. All jobs have the same weight, so deficit round robin is plain round robin.
const quantum = 4
const lanesPerPage = 64
// A claim of a few jobs mostly needs no further lanes, and reading them takes most of its time.
const lanesPerSmallPage = 16
const pageSizeOf = ({ limit }: ClaimRequest): number => (limit <= lanesPerSmallPage ? lanesPerSmallPage : lanesPerPage)

/** Selects due jobs by round robin over the lanes, at max one round, so that a long lane can't starve the others. */
export async function claimFromLanes(tx: Tx, request: ClaimRequest): Promise<LaneClaim> {
  const claim: LaneClaim = { ids: [], lastLane: request.after, heldUntil: Infinity, contended: false, atCapacity: false }
  const limits = new Map<string, Limited | null>()
  const complete = await runRound(tx, request, claim, limits)
  if (complete) await serveRetries(tx, request, claim, limits)
  for (const [group, limited] of limits) {
    if (limited === null) continue
    if (complete || limited.starved) request.starvedGroups.delete(group)
    else request.starvedGroups.add(group)
  }
  return claim
}

/** Returns false if it stopped because of concurrency limits. */
async function runRound(tx: Tx, request: ClaimRequest, claim: LaneClaim, limits: Map<string, Limited | null>): Promise<boolean> {
  const start = request.after
  const pageSize = pageSizeOf(request)
  const first = await dueLanes(tx, request, '')
  if (first.length < pageSize) {
    // These are all lanes. The round starts after the last served one.
    const next = first.findIndex(due => due.lane > start)
    for (const due of next < 0 ? first : [...first.slice(next), ...first.slice(0, next)]) {
      if (isFull(request, claim)) return false
      await serve(tx, request, claim, due, limits)
    }
    return true
  }
  let after = start
  let wrapped = false
  for (;;) {
    const lanes = await dueLanes(tx, request, after)
    let skipped: string | undefined
    for (const due of lanes) {
      if (wrapped && due.lane > start) return true
      if (isFull(request, claim)) return false
      skipped = endOfFullGroup(request, due.lane)
      if (skipped !== undefined) {
        claim.atCapacity = true
        break
      }
      await serve(tx, request, claim, due, limits)
    }
    if (skipped !== undefined) {
      after = skipped
      if (wrapped && after > start) return true
    } else if (lanes.length === pageSize) after = lanes.at(-1)!.lane
    else if (wrapped || start === '') return true
    else {
      wrapped = true
      after = ''
    }
  }
}

/**
 * If no further run can start in the group of a lane: where its lanes end. A group can have thousands of lanes, and reading all of them
 * would take most of the time.
 */
const endOfFullGroup = ({ capacity }: ClaimRequest, lane: string): string | undefined => {
  const group = groupOf(lane)
  return group !== lane && capacity.isGroupFull(group) ? `${group}/\u{10ffff}` : undefined
}

function isFull(request: ClaimRequest, claim: LaneClaim): boolean {
  if (claim.ids.length < request.limit && !request.capacity.full) return false
  claim.atCapacity = true
  return true
}

async function serve(
  tx: Tx,
  request: ClaimRequest,
  claim: LaneClaim,
  due: DueLane,
  limits: Map<string, Limited | null>,
): Promise<void> {
  const { rules, now } = request
  const { lane, heldUntil } = due
  if (heldUntil !== null && heldUntil > now) {
    claim.heldUntil = Math.min(claim.heldUntil, heldUntil)
    return
  }
  // Skip lanes that another hub released or served since they were read: holding a released lane again would block it forever.
  if (heldUntil !== null && !(await lockLaneHold(tx, request.kind, lane, now))) {
    claim.contended = true
    return
  }
  const max = heldUntil === null ? quantum : 1
  const limited = await limitOf(tx, request, lane, limits)
  if (limited === null || limited.starved) {
    const { claimed, queried } = await claimLane(tx, request, claim, due, rules.ranks, max, limited)
    if (claimed === 0) claim.contended ||= queried
    return
  }
  const { claimed, more } = await claimLane(tx, request, claim, due, rules.ranks.slice(0, 1), max, limited)
  // A held lane allows only a single job.
  if (more && heldUntil === null) limited.firstsLeft = true
  limited.lanes.push({ due, max: max - claimed, claimed })
}

/** Serves retries with what first runs left of the rate limit of their group. */
async function serveRetries(tx: Tx, request: ClaimRequest, claim: LaneClaim, limits: Map<string, Limited | null>): Promise<void> {
  const ranks = request.rules.ranks.slice(1)
  for (const limited of limits.values()) {
    if (limited === null || limited.firstsLeft) continue
    for (const { due, max, claimed: before } of limited.lanes) {
      if (isFull(request, claim)) return
      const { claimed, queried } = await claimLane(tx, request, claim, due, ranks, max, limited)
      if (before + claimed === 0) claim.contended ||= queried
    }
  }
}

/** The rate limit of a lane's group in this claim; null if unlimited. */
async function limitOf(
  tx: Tx,
  request: ClaimRequest,
  lane: string,
  limits: Map<string, Limited | null>,
): Promise<Limited | null> {
  const { rateLimit } = request.rules
  if (!rateLimit || rateLimit.exempts(lane)) return null
  const group = groupOf(lane)
  let limited = limits.get(group)
  if (limited === undefined) {
    const allowance = await rateLimit.allowance(tx, request.hub, group)
    limited = allowance && { ...allowance, firstsLeft: false, starved: request.starvedGroups.has(group), lanes: [] }
    limits.set(group, limited)
  }
  return limited
}

/** Claims up to `max` jobs of a lane. `more` means that further jobs of its last rank may be due. */
async function claimLane(
  tx: Tx,
  request: ClaimRequest,
  claim: LaneClaim,
  { lane, heldUntil, due }: DueLane,
  ranks: readonly number[],
  max: number,
  limited: Limited | null,
): Promise<{ claimed: number; queried: boolean; more: boolean }> {
  const { capacity, kind, now, rules } = request
  const result = { claimed: 0, queried: false, more: false }
  for (const rank of ranks) {
    if (!due[rules.ranks.indexOf(rank)]) continue
    if (limited !== null && limited.left <= 0) {
      if (limited.until === null) claim.contended = true
      else claim.heldUntil = Math.min(claim.heldUntil, limited.until)
      break
    }
    const limit = Math.min(
      max - result.claimed,
      capacity.available(lane, rank),
      request.limit - claim.ids.length,
      limited?.left ?? Infinity,
    )
    if (limit <= 0) {
      claim.atCapacity ||= result.claimed < max
      continue
    }
    result.queried = true
    const rows = await dueIn(tx).execute({ kind, lane, rank, now, limit })
    for (const { id } of rows) {
      claim.ids.push(id)
      capacity.reserve(lane, rank)
    }
    result.claimed += rows.length
    result.more = rows.length === limit
    if (limited !== null) limited.left -= rows.length
  }
  if (result.claimed === 0) return result
  claim.lastLane = lane
  // A job of a held lane is a trial: no hub claims a second one until it has finished or its lease has expired.
  if (heldUntil !== null) await holdLane(tx, kind, lane, now + request.leaseMs)
  return result
}

const dueIn = (tx: Tx) =>
  prepared(tx, 'jobs-due-in-lane', (read: Tx) =>
    forUpdate(
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

/** The next lanes with due jobs by name, including held lanes. */
async function dueLanes(tx: Tx, request: ClaimRequest, after: string): Promise<DueLane[]> {
  const { kind, rules, now } = request
  const page = prepared(tx, `due-lanes|${rules.ranks.length}`, (read: Tx) => {
    const ready = sql`${jobs.state} = 'ready' and ${jobs.kind} = ${sql.placeholder('kind')}`
    // Each rank separately, so that the index can be searched by time without scanning jobs scheduled for later.
    const isDue = (n: number) => sql`exists (select 1 from ${jobs} where ${ready} and ${jobs.lane} = lanes.name
      and ${jobs.priority} = ${sql.placeholder(`rank${n}`)} and ${jobs.runAt} <= ${sql.placeholder('now')})`
    const ranks = rules.ranks.map((_, n) => sql.raw(`due${n}`))
    // Skips from lane to lane in the index, regardless of the number of jobs in each.
    return read
      .select({
        lane: sql<string>`turns.lane`,
        heldUntil: sql<number | null>`turns.held_until`.mapWith(value => (value === null ? null : Number(value))),
        due: sql<boolean[]>`turns.due`.mapWith((flags: string) => [...flags].map(flag => flag === '1')),
      })
      .from(
        sql`(with recursive lanes(name) as (
          select min(${jobs.lane}) from ${jobs} where ${ready} and ${jobs.lane} > ${sql.placeholder('after')}
          union all
          select (select min(${jobs.lane}) from ${jobs} where ${ready} and ${jobs.lane} > lanes.name)
          from lanes where lanes.name is not null),
        ranked as (select lanes.name, ${sql.join(
          ranks.map((name, n) => sql`case when ${isDue(n)} then '1' else '0' end as ${name}`),
          sql`, `,
        )} from lanes where lanes.name is not null)
        select ranked.name as lane, ${sql.join(ranks, sql` || `)} as due, (select ${heldLanes.heldUntil} from ${heldLanes}
          where ${heldLanes.kind} = ${sql.placeholder('kind')} and ${heldLanes.lane} = ranked.name) as held_until
        from ranked where ${sql.join(
          ranks.map(name => sql`${name} = '1'`),
          sql` or `,
        )} limit ${sql.placeholder('size')}) as turns`,
      )
  })
  const ranks = Object.fromEntries(rules.ranks.map((rank, n) => [`rank${n}`, rank]))
  return await page.execute({ kind, now, after, size: pageSizeOf(request), ...ranks })
}
