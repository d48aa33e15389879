import { eq } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { record } from '../../../core/change'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { AgentFacts, AgentPermission, StopReason } from './shapes'
import { agents } from './tables'

type AgentRow = typeof agents.$inferSelect

/** What an agent reports at each interval. */
export interface AgentReport {
  version: string
  intervalSeconds: number
  allow: AgentPermission[]
  /** Only in reports in which they changed. */
  facts?: AgentFacts
}

/** An agent counts as silent after this many intervals without a report, and not before `minSilenceMs`. */
const silentIntervals = 3
const minSilenceMs = 90_000
/** How long an agent that stopped on purpose may stay away. */
const stoppedMs: Readonly<Record<StopReason, number>> = { shutdown: 600_000, stop: 600_000, reboot: 300_000 }

/** How long an agent may send no report before it counts as silent, in milliseconds. */
const silenceLimitMs = ({ intervalSeconds }: Pick<AgentRow, 'intervalSeconds'>): number =>
  Math.max(minSilenceMs, silentIntervals * intervalSeconds * 1000)

/**
 * Records a current report of an agent. Reports that arrive late, after the hub could not be reached, must not be passed: they
 * don’t tell whether the server is alive now.
 * @returns false if there is no such agent
 */
export async function recordReport(hub: Hub, id: string, { facts, ...report }: AgentReport): Promise<boolean> {
  return await record(hub, async tx => {
    const row = await lockAgent(tx, id)
    if (!row) return { result: false }
    const now = hub.clock.now()
    await tx
      .update(agents)
      .set({
        ...report,
        state: 'reporting',
        lastSeenAt: now,
        dueAt: now + silenceLimitMs(report),
        silentAt: null,
        unheard: false,
        notified: false,
        stopReason: null,
        ...(row.state !== 'reporting' && { pending: true }),
        ...(facts && { factsAt: now, ...(!isDeepStrictEqual(facts, row.facts) && { facts }) }),
      })
      .where(eq(agents.id, id))
    return { result: true }
  })
}

/**
 * Records that an agent stops on purpose.
 * @returns false if there is no such agent
 */
export async function recordGoodbye(hub: Hub, id: string, reason: StopReason): Promise<boolean> {
  return await record(hub, async tx => {
    const row = await lockAgent(tx, id)
    if (!row) return { result: false }
    const now = hub.clock.now()
    await tx
      .update(agents)
      .set({
        state: 'stopped',
        stopReason: reason,
        lastSeenAt: now,
        dueAt: now + stoppedMs[reason],
        silentAt: null,
        unheard: false,
        notified: false,
        pending: true,
      })
      .where(eq(agents.id, id))
    return { result: true }
  })
}

const lockAgent = async (tx: Tx, id: string): Promise<AgentRow | undefined> =>
  (await forUpdate(tx.select().from(agents).where(eq(agents.id, id))))[0]
