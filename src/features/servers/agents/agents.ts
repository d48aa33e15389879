import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { enforceHostJobFor } from '../firewalls/host-job'
import type { AgentFacts, StopReason } from '../../../wire/agent'
import type { AgentPermission } from '../../../wire/agent-permissions'
import { concludeFromAgent } from './conclude'
import { lockAgent, type AgentRow } from './rows'
import { silenceLimitMs } from './silence'
import { agents } from './tables'

/** What an agent reports at each interval. */
export interface AgentReport {
  version: string
  intervalSeconds: number
  allow: AgentPermission[]
  /** Only in reports in which they changed. */
  facts?: AgentFacts
}

/** How long an agent that stopped on purpose may stay away. */
const stoppedMs: Readonly<Record<StopReason, number>> = { shutdown: 600_000, stop: 600_000, reboot: 300_000 }

/**
 * Records a current report of an agent. Reports that arrive late, after the hub could not be reached, must not be passed: they
 * don’t tell whether the server is alive now.
 * @returns false if there is no such agent
 */
export async function recordReport(hub: Hub, id: string, { facts, ...report }: AgentReport): Promise<boolean> {
  return await updateAgent(hub, id, (row, now) => ({
    ...report,
    state: 'reporting',
    lastSeenAt: now,
    dueAt: now + silenceLimitMs(report),
    silentAt: null,
    unheard: false,
    notified: false,
    stopReason: null,
    ...(row.state !== 'reporting' && { pending: true }),
    ...(facts && { facts, factsAt: now }),
  }))
}

/**
 * Records that an agent stops on purpose.
 * @returns false if there is no such agent
 */
export async function recordGoodbye(hub: Hub, id: string, reason: StopReason): Promise<boolean> {
  return await updateAgent(hub, id, (_, now) => ({
    ...stopped(reason, now),
    lastSeenAt: now,
    silentAt: null,
    unheard: false,
    notified: false,
    pending: true,
  }))
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

async function updateAgent(hub: Hub, id: string, columns: (row: AgentRow, now: number) => Partial<AgentRow>): Promise<boolean> {
  const known = await record(hub, async tx => {
    const row = await lockAgent(tx, id)
    if (!row) return { result: null }
    const set = columns(row, hub.clock.now())
    await tx.update(agents).set(set).where(eq(agents.id, id))
    const isSame = !set.facts || isDeepStrictEqual(firewallFacts(set.facts), firewallFacts(row.facts))
    return { result: { isPending: set.pending ?? row.pending }, jobs: isSame ? [] : [enforceHostJobFor(row.serverId)] }
  })
  if (known?.isPending) await concludeFromAgent(hub, id)
  return known !== null
}

/** What the firewalls of a server drop depends on these facts. */
const firewallFacts = (facts: AgentFacts | null) => [facts?.uplinks, facts?.agent_uid]
