import { and, asc, eq, inArray, isNotNull, isNull, lte, max, min, ne, notInArray, or, sql, type SQL } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { aliased, forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { pluralize } from '../../../core/pluralize'
import type { ServerStatus } from '../shapes'
import { isSettled } from '../state'
import { servers } from '../tables'
import { agents, isDisconnected } from './tables'
import { touchAgent } from './touch-agents'

/** An agent counts as silent after this many intervals without a report, and not before `minSilenceMs`. */
const silentIntervals = 3
const minSilenceMs = 90_000
/**
 * If agents stop together, the last report of each of them is at most one of its intervals, plus a delay, older than the newest report
 * of all. Differences of up to `togetherMs` are always possible.
 */
const delayMs = 30_000
const togetherMs = 60_000
/** Fewer agents can stop together by chance. */
const minDisconnected = 3
/** After this time, the servers of disconnected agents are probably down, such as all servers of a site. */
const disconnectedMs = 900_000
/** An agent that can’t reach the hub retries at least this often. */
const retryMs = 300_000

/** Agents of servers with these statuses are expected to be silent. */
const awayStatuses: ServerStatus[] = ['off', 'stopping', 'suspended', 'missing', 'deleting', 'deleted']

/** How long an agent may send no report before it counts as silent, in milliseconds. */
export const silenceLimitMs = ({ intervalSeconds }: { intervalSeconds: number }): number =>
  Math.max(minSilenceMs, silentIntervals * intervalSeconds * 1000)

const limitMs = sql`case when ${agents.intervalSeconds} * ${silentIntervals * 1000} < ${minSilenceMs} then ${minSilenceMs}
  else ${agents.intervalSeconds} * ${silentIntervals * 1000} end`
/** If any agent of the workspace reported after this time (ms UTC), the hub could be reached when this agent should have reported. */
const missedAt = sql`(${agents.dueAt} - ${limitMs} + case when ${agents.intervalSeconds} * 1000 < ${togetherMs - delayMs}
  then ${togetherMs} else ${agents.intervalSeconds} * 1000 + ${delayMs} end)`

/**
 * Marks the agents that have not reported in time. If all agents of a workspace become silent together, the hub probably can’t be
 * reached: they are disconnected, which says nothing about their servers, and the workspace gets a single notice. Agents whose servers are
 * switched off, deleted, or interrupted by an action don’t count.
 */
export async function markSilent(hub: Hub): Promise<void> {
  await returnDisconnected(hub)
  const now = hub.clock.now()
  await changeDisconnected(hub, lte(agents.silentAt, now - disconnectedMs), { disconnected: false, pending: true })
  // Not distinct in SQL: SQLite would read all agents in the order of their workspaces.
  const due = await hub.read.select({ workspaceId: agents.workspaceId }).from(agents).where(lte(agents.dueAt, now))
  for (const workspaceId of new Set(due.map(one => one.workspaceId))) {
    const [last] = await hub.read
      .select({ at: max(agents.lastSeenAt).mapWith(Number) })
      .from(agents)
      .where(eq(agents.workspaceId, workspaceId))
    const heardAt = last?.at ?? 0
    const { together, waiting, firstAt } = await countSilent(hub, workspaceId, heardAt)
    const isPossible = together + waiting >= minDisconnected
    // Until all of them are due, one of them may still report. Some take hours to do so.
    const isWaiting = isPossible && waiting > 0 && firstAt !== null && now < firstAt
    const state = isWaiting ? null : together >= minDisconnected ? 'disconnected' : 'silent'
    await record(hub, tx => mark(tx, hub, workspaceId, heardAt, state, together))
  }
}

/** Counts agents that are silent since the last report of any agent, and those that may still report. */
async function countSilent(hub: Hub, workspaceId: string, heardAt: number) {
  const now = hub.clock.now()
  const isTogether = sql`(${agents.dueAt} <= ${now} and ${missedAt} >= ${heardAt})`
  const isExpected = and(
    isNull(servers.deletedAt),
    ne(servers.power, 'off'),
    notInArray(servers.status, awayStatuses),
    isSettled(now),
  )
  const count = (condition: SQL) => sql<number>`count(case when ${isExpected} and ${condition} then 1 end)`.mapWith(Number)
  const [counts] = await hub.read
    .select({
      together: count(sql`(${agents.disconnected} or ${isTogether})`),
      waiting: count(sql`${agents.state} = 'reporting' and ${agents.dueAt} > ${now}`),
      firstAt: min(sql<number>`case when ${isTogether} then ${agents.dueAt} + ${limitMs} end`).mapWith(Number),
    })
    .from(agents)
    .innerJoin(servers, eq(servers.id, agents.serverId))
    .where(eq(agents.workspaceId, workspaceId))
  return counts!
}

/**
 * @param heardAt when any agent of the workspace last reported (ms UTC)
 * @param state the new state of agents that are due and silent since then; null to leave them unchanged
 * @param count how many agents the notice names
 */
async function mark(
  tx: Tx,
  hub: Hub,
  workspaceId: string,
  heardAt: number,
  state: 'silent' | 'disconnected' | null,
  count: number,
): Promise<RecordResult<undefined>> {
  const now = hub.clock.now()
  // Locked in id order, and read again: another hub may have marked them.
  const due = await forUpdate(
    tx
      .select({
        id: agents.id,
        disconnected: agents.disconnected,
        isAlone: sql<number>`${missedAt} < ${heardAt}`.mapWith(Boolean),
      })
      .from(agents)
      .where(and(eq(agents.workspaceId, workspaceId), lte(agents.dueAt, now)))
      .orderBy(asc(agents.id)),
  )
  const set = async (rows: readonly { id: string }[], disconnected: boolean) => {
    for (let at = 0; at < rows.length; at += rowsPerUpdate)
      await tx
        .update(agents)
        .set({ state: 'silent', silentAt: sql`coalesce(${agents.silentAt}, ${now})`, dueAt: null, disconnected, pending: true })
        .where(
          inArray(
            agents.id,
            rows.slice(at, at + rowsPerUpdate).map(one => one.id),
          ),
        )
  }
  const [alone, together] = [due.filter(one => one.isAlone), due.filter(one => !one.isAlone)]
  await set(alone, false)
  if (due.length > 0) touchAgent(tx, { workspaceId, id: '*', serverId: null })
  if (state === null) return { result: undefined }
  await set(together, state === 'disconnected')
  const isNew = state === 'disconnected' && together.some(one => !one.disconnected)
  return { result: undefined, notices: isNew ? [disconnectedNotice(workspaceId, count)] : [] }
}

const rowsPerUpdate = 500

const disconnectedNotice = (workspaceId: string, count: number) => ({
  workspaceId,
  kind: 'agents.disconnected' as const,
  resource: null,
  text: `${pluralize(count, 'agents')} of the workspace stopped reporting at the same time, and no agent has reported since. The hub may not be reachable for them, so the health of their servers is not known from them.`,
  details: { agents: count },
  dedupKey: 'all',
})

/** If an agent of a workspace reports again, the others get the time to do so too. Those that don’t are silent. */
async function returnDisconnected(hub: Hub): Promise<void> {
  const other = aliased(agents, 'other')
  const isBack = sql`exists (select 1 from ${agents} as other where ${other.workspaceId} = ${agents.workspaceId}
    and ${other.state} = 'reporting' and ${other.lastSeenAt} > ${agents.silentAt})`
  await changeDisconnected(hub, isBack, { dueAt: sql`${hub.clock.now() + retryMs} + ${limitMs}` })
}

/** Changes disconnected agents that have not been given time to report again yet. */
async function changeDisconnected(hub: Hub, condition: SQL, columns: object): Promise<void> {
  const isConcerned = and(isDisconnected, isNull(agents.dueAt), condition)
  const [first] = await hub.read.select({ id: agents.id }).from(agents).where(isConcerned).limit(1)
  if (!first) return
  await record(hub, async tx => {
    await forUpdate(tx.select({ id: agents.id }).from(agents).where(isConcerned).orderBy(asc(agents.id)))
    await tx.update(agents).set(columns).where(isConcerned)
    return { result: undefined }
  })
}

/**
 * Gives agents time to report again after no hub was running, so that nothing is concluded from reports that could not arrive. If
 * that took less than an interval of an agent, it is extended by that time. Otherwise, it gets the whole time again.
 * @param awayMs duration of the outage, which ended at `now`
 */
export async function extendSilence(tx: Tx, now: number, awayMs: number): Promise<void> {
  const restarted = sql`${now + Math.min(awayMs, retryMs)} + ${limitMs}`
  const dueAt = sql`case when ${agents.intervalSeconds} * 1000 > ${awayMs} then ${agents.dueAt} + ${awayMs}
    when ${agents.dueAt} > ${restarted} then ${agents.dueAt} else ${restarted} end`
  await tx
    .update(agents)
    .set({ dueAt })
    .where(or(isNotNull(agents.dueAt), isDisconnected))
}
