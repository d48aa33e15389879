import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Consequences } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import {
  maxCommandLifeMs,
  signCommand,
  type AgentCommand,
  type CommandName,
  type CommandParams,
} from '../../../wire/agent-command'
import { agentCommands } from './command-tables'
import { hubKey } from './hub-key'

/** Topic that wakes the waiting request of an agent. */
export const commandTopic = (agentId: string): string => `commands:${agentId}`

/** A command to send. */
interface CommandDraft<Name extends CommandName> {
  agentId: string
  name: Name
  params: CommandParams[Name]
  requestedBy: AgentCommand['requested_by']
  /** The action that waits for it. */
  actionId?: string
  /** After this time, it is not run. At most ten minutes. */
  lifeMs: number
}

/** Sends a command to an agent once the transaction is committed. @returns its ID, and what has to follow */
export async function sendCommand<Name extends CommandName>(
  tx: Tx,
  hub: Hub,
  { agentId, name, params, requestedBy, actionId = undefined, lifeMs }: CommandDraft<Name>,
): Promise<Pick<Consequences, 'wakeTopics'> & { id: string }> {
  const now = hub.clock.now()
  const expiresAt = now + Math.min(lifeMs, maxCommandLifeMs)
  const id = newId('cmd')
  const command = {
    ...{ id, agent_id: agentId, name, params },
    ...{ issued_at: now, expires_at: expiresAt, requested_by: requestedBy },
  } as AgentCommand
  await tx.insert(agentCommands).values({
    ...{ id, agentId, actionId: actionId ?? null, name, ...signCommand(hubKey(hub), command) },
    ...{ sendAt: now, expiresAt, sentAt: null, sends: 0 },
    ...{ finishedAt: null, outcome: null, detail: null, output: null },
  })
  return { id, wakeTopics: [commandTopic(agentId)] }
}

/** Withdraws commands with these names: deletes those that the agent has not fetched, and no longer sends the others again. */
export async function withdrawCommands(tx: Tx, agentId: string, names: CommandName[]): Promise<void> {
  const unfinished = and(eq(agentCommands.agentId, agentId), isNull(agentCommands.finishedAt), inArray(agentCommands.name, names))
  await tx.delete(agentCommands).where(and(unfinished, isNull(agentCommands.sentAt)))
  await tx.update(agentCommands).set({ sendAt: null }).where(unfinished)
}
