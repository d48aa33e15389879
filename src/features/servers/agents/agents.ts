import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { EventDraft } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { enforceHostJobFor } from '../firewalls/host-job'
import type { AgentFacts, StopReason } from '../../../wire/agent'
import type { AgentPermission } from '../../../wire/agent-permissions'
import { holdServer } from '../view'
import { concludeFromAgent } from './conclude'
import { lockAgent, type AgentRow, type AnyAgentRow } from './rows'
import { silenceLimitMs } from './silence'
import { agents } from './tables'
import { touchAgent } from './touch-agents'

/** What an agent reports at each interval. */
export interface AgentReport {
  version: string
  intervalSeconds: number
  allow: AgentPermission[]
  /** Only in reports in which they changed. */
  facts?: AgentFacts
  /** Why it stops on purpose after this report. */
  stopping?: StopReason
}

/** Other columns to set with a report. May throw a Problem to refuse it. */
type More = (row: AgentRow, now: number, tx: Tx) => Columns | Promise<Columns>

interface Columns extends Partial<AnyAgentRow> {
  /** What else the report tells. Committed with it. */
  events?: EventDraft[]
  notices?: NoticeDraft[]
}

/** How long an agent that stopped on purpose may stay away. */
const stoppedMs: Readonly<Record<StopReason, number>> = { shutdown: 600_000, stop: 600_000, reboot: 300_000 }

/**
 * Records a current report of an agent. Reports that arrive late, after the hub could not be reached, must not be passed: they
 * don’t show whether the server is alive now.
 * @param server the server of the agent if `more` may insert rows of it; else null
 * @returns false if there is no such agent
 */
export async function recordReport(
  hub: Hub,
  id: string,
  { facts, stopping, ...report }: AgentReport,
  more: More = () => ({}),
  server: string | null = null,
): Promise<boolean> {
  const columns: More = async (row, now, tx) => ({
    ...report,
    ...(await more(row, now, tx)),
    ...(stopping
      ? { ...stopped(stopping, now), pending: true }
      : { state: 'reporting', stopReason: null, dueAt: now + silenceLimitMs(report) }),
    lastSeenAt: now,
    silentAt: null,
    disconnected: false,
    notified: false,
    ...(row.state !== 'reporting' && { pending: true }),
    ...(facts && { facts, factsAt: now }),
  })
  return await updateAgent(hub, id, columns, server)
}

/**
 * Records a report with minutes that could not be sent before, which says nothing about whether the server is alive.
 * @param server the server of the agent if `more` may insert rows of it; else null
 * @returns false if there is no such agent
 */
export const recordBacklog = (hub: Hub, id: string, more: More, server: string | null): Promise<boolean> =>
  updateAgent(hub, id, more, server)

/**
 * Records that an agent has sent another request than a report, so it is alive. Written only if it has not reported for half of the
 * time that it may, or is silent: agents have a request open all the time. One that announced that it stops is not alive again.
 */
export async function recordSignOfLife(hub: Hub, agent: AgentRow): Promise<void> {
  const now = hub.clock.now()
  const dueAt = now + silenceLimitMs(agent)
  const isFresh = agent.state === 'reporting' && agent.dueAt !== null && agent.dueAt - now >= silenceLimitMs(agent) / 2
  if (isFresh || agent.state === 'stopped') return
  await updateAgent(hub, agent.id, row =>
    row.state === 'stopped'
      ? {}
      : {
          ...{ state: 'reporting', dueAt, lastSeenAt: now, silentAt: null, disconnected: false, notified: false },
          ...(row.state !== 'reporting' && { pending: true }),
        },
  )
}

const stopped = (reason: StopReason, now: number) => ({
  state: 'stopped' as const,
  stopReason: reason,
  dueAt: now + stoppedMs[reason],
})

/**
 * Records that a server was switched on or off here, for its agent. One that can’t announce that it stops would else count as
 * reporting until it is silent.
 * @param serverId of a server that is locked in the transaction
 */
export async function followPower(tx: Tx, serverId: string, power: 'on' | 'off', now: number): Promise<void> {
  const [state, columns] =
    power === 'off'
      ? (['reporting', stopped('shutdown', now)] as const)
      : (['stopped', { dueAt: now + stoppedMs.reboot }] as const)
  await tx
    .update(agents)
    .set(columns)
    .where(and(eq(agents.serverId, serverId), eq(agents.state, state)))
}

/** @param server to lock before the agent */
async function updateAgent(hub: Hub, id: string, columns: More, server: string | null = null): Promise<boolean> {
  const known = await record(hub, async tx => {
    if (server !== null) await holdServer(tx, server)
    const row = await lockAgent(tx, id)
    if (!row) return { result: null }
    const { events = [], notices = [], ...set } = await columns(row, hub.clock.now(), tx)
    await updateAgentRow(tx, row, set)
    if ((set.state ?? row.state) !== row.state) touchAgent(tx, row)
    const isSame = !set.facts || isDeepStrictEqual(firewallFacts(set.facts), firewallFacts(row.facts))
    const result = { isPending: set.pending ?? row.pending }
    return { result, events, notices, jobs: isSame ? [] : [enforceHostJobFor(row.serverId)] }
  })
  if (known?.isPending) await concludeFromAgent(hub, id)
  return known !== null
}

/** Writes the columns that differ. SQLite writes the index entries of every column that is set. */
async function updateAgentRow(tx: Tx, row: AnyAgentRow, set: Partial<AnyAgentRow>): Promise<void> {
  const columns = (Object.keys(set) as (keyof AnyAgentRow)[]).filter(
    name => set[name] !== undefined && !isDeepStrictEqual(set[name], row[name]),
  )
  if (columns.length === 0) return
  columns.sort()
  await updateRows(tx, agents, { name: columns.join(), set: columns }, [{ ...row, ...set, id: row.id }])
}

/** What the firewalls of a server drop depends on these facts. */
const firewallFacts = (facts: AgentFacts | null) => [facts?.uplinks, facts?.agent_uid]
