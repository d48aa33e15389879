import { and, asc, eq, inArray, isNotNull, isNull, lte, max, min, ne, notInArray, sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { aliased, forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { pluralize } from '../../../core/pluralize'
import type { ServerStatus } from '../shapes'
import { isSettled } from '../state'
import { servers } from '../tables'
import { agents } from './tables'

/** An agent counts as silent after this many intervals without a report, and not before `minSilenceMs`. */
const silentIntervals = 3
const minSilenceMs = 90_000
/** All agents of a workspace are unheard if they became silent within this time, and if they are at least `minUnheard`. */
const togetherMs = 60_000
const minUnheard = 3
/** An agent that can’t reach the hub retries at least this often. */
const retryMs = 300_000

/** Agents of servers with these statuses are expected to be silent. */
const awayStatuses: ServerStatus[] = ['off', 'stopping', 'suspended', 'missing', 'deleting', 'deleted']

/** How long an agent may send no report before it counts as silent, in milliseconds. */
export const silenceLimitMs = ({ intervalSeconds }: { intervalSeconds: number }): number =>
  Math.max(minSilenceMs, silentIntervals * intervalSeconds * 1000)

const limitMs = sql`case when ${agents.intervalSeconds} * ${silentIntervals * 1000} < ${minSilenceMs} then ${minSilenceMs}
  else ${agents.intervalSeconds} * ${silentIntervals * 1000} end`

/**
 * Marks the agents that have not reported in time. If all agents of a workspace become silent together, the hub probably can’t be
 * reached: they are unheard, which says nothing about their servers, and the workspace gets a single notice. Agents whose servers are
 * switched off, deleted, or interrupted by an action don’t count.
 */
export async function markSilent(hub: Hub): Promise<void> {
  await returnUnheard(hub)
  const now = hub.clock.now()
  const isDue = lte(agents.dueAt, now)
  const due = await hub.read.selectDistinct({ workspaceId: agents.workspaceId }).from(agents).where(isDue)
  for (const { workspaceId } of due) {
    const [reporting] = await hub.read
      .select({
        count: sql<number>`count(*)`.mapWith(Number),
        due: sql<number>`count(case when ${isDue} then 1 end)`.mapWith(Number),
        lastSeenAt: max(agents.lastSeenAt).mapWith(Number),
        dueSeenAt: min(sql<number>`case when ${isDue} then ${agents.lastSeenAt} end`).mapWith(Number),
      })
      .from(agents)
      .innerJoin(servers, eq(servers.id, agents.serverId))
      .where(
        and(
          eq(agents.workspaceId, workspaceId),
          eq(agents.state, 'reporting'),
          isNull(servers.deletedAt),
          ne(servers.power, 'off'),
          notInArray(servers.status, awayStatuses),
          isSettled(now),
        ),
      )
    const { count, due: dueCount, lastSeenAt, dueSeenAt } = reporting!
    const isTogether = count >= minUnheard && dueCount > 0 && lastSeenAt - dueSeenAt <= togetherMs
    // Until all of them are due, it is not known whether one of them still reports.
    const isWaiting = isTogether && dueCount < count
    await record(hub, tx => mark(tx, hub, workspaceId, isWaiting ? null : isTogether ? 'unheard' : 'silent', count))
  }
}

/**
 * @param reporting the new state of agents that were reporting and are due; null to leave them unchanged
 * @param count how many agents the notice names
 */
async function mark(
  tx: Tx,
  hub: Hub,
  workspaceId: string,
  reporting: 'silent' | 'unheard' | null,
  count: number,
): Promise<RecordResult<undefined>> {
  const now = hub.clock.now()
  // Locked in id order, and read again: another hub may have marked them.
  const due = await forUpdate(
    tx
      .select({ id: agents.id, state: agents.state })
      .from(agents)
      .where(and(eq(agents.workspaceId, workspaceId), lte(agents.dueAt, now)))
      .orderBy(asc(agents.id)),
  )
  const [own, others] = [due.filter(one => one.state === 'reporting'), due.filter(one => one.state !== 'reporting')]
  const set = async (rows: readonly { id: string }[], unheard: boolean) => {
    for (let at = 0; at < rows.length; at += rowsPerUpdate)
      await tx
        .update(agents)
        .set({ state: 'silent', silentAt: sql`coalesce(${agents.silentAt}, ${now})`, dueAt: null, unheard, pending: true })
        .where(
          inArray(
            agents.id,
            rows.slice(at, at + rowsPerUpdate).map(one => one.id),
          ),
        )
  }
  await set(others, false)
  if (reporting === null) return { result: undefined }
  await set(own, reporting === 'unheard')
  return { result: undefined, notices: reporting === 'unheard' && own.length > 0 ? [unheardNotice(workspaceId, count)] : [] }
}

const rowsPerUpdate = 500

const unheardNotice = (workspaceId: string, count: number) => ({
  workspaceId,
  kind: 'agents.unheard' as const,
  resource: null,
  text: `All ${pluralize(count, 'agents')} of the workspace stopped reporting at the same time. The hub may not be reachable for them, so the health of their servers is not known from them.`,
  details: { agents: count },
  dedupKey: 'all',
})

/** If an agent of a workspace reports again, the others get the time to do so too. Those that don’t are silent. */
async function returnUnheard(hub: Hub): Promise<void> {
  const other = aliased(agents, 'other')
  const isBack = and(
    eq(agents.unheard, true),
    isNull(agents.dueAt),
    sql`exists (select 1 from ${agents} as other where ${other.workspaceId} = ${agents.workspaceId}
      and ${other.state} = 'reporting' and ${other.lastSeenAt} > ${agents.silentAt})`,
  )
  const waiting = await hub.read.select({ id: agents.id }).from(agents).where(isBack).limit(1)
  if (waiting.length === 0) return
  await record(hub, async tx => {
    const rows = await forUpdate(
      tx
        .select({ id: agents.id })
        .from(agents)
        .where(and(eq(agents.unheard, true), isNull(agents.dueAt)))
        .orderBy(asc(agents.id)),
    )
    if (rows.length > 0)
      await tx
        .update(agents)
        .set({ dueAt: sql`${hub.clock.now() + retryMs} + ${limitMs}` })
        .where(isBack)
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
  await tx.update(agents).set({ dueAt }).where(isNotNull(agents.dueAt))
}
