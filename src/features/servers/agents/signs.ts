import { inArray } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import type { StopReason } from '../../../wire/agent'
import type { AgentSign } from '../../monitors/server-states'
import { linkedStates, type LinkedState } from './shapes'
import { agents } from './tables'

/**
 * The last signs of life from the agents of servers, by the ids of the servers. Agents that were stopped without their server, and those
 * that have not called since they were approved, are left out: that says nothing about the server, so nothing waits for them.
 */
export async function signsOf(read: Reader, ids: readonly string[]): Promise<Map<string, AgentSign>> {
  if (ids.length === 0) return new Map()
  const { serverId, state, stopReason, lastSeenAt, dueAt, silentAt } = agents
  const rows = await read
    .select({ serverId, state, stopReason, lastSeenAt, dueAt, silentAt })
    .from(agents)
    .where(inArray(serverId, [...ids]))
  return new Map(
    rows.flatMap(row =>
      row.serverId !== null && isLinkedState(row.state) && (row.state !== 'stopped' || isOff(row.stopReason))
        ? [[row.serverId, { state: row.state, heardAt: row.lastSeenAt, silentAt: row.silentAt ?? row.dueAt ?? row.lastSeenAt }]]
        : [],
    ),
  )
}

/** Whether an agent stopped because its server shuts down or restarts. One that has just been approved has no reason. */
const isOff = (reason: StopReason | null): boolean => reason === 'shutdown' || reason === 'reboot'

const isLinkedState = (state: string): state is LinkedState => linkedStates.some(one => one === state)
