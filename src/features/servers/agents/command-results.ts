import { and, eq, isNull, lt } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { pruneRows } from '../../../core/rows'
import type { AgentCommand, CommandResult } from '../../../wire/agent-command'
import { recordHostFirewall } from '../firewalls/enforce-host'
import { agentCommands } from './command-tables'

export type CommandRow = typeof agentCommands.$inferSelect

/** How long commands are kept after they expired. */
const keepMs = 86_400_000

/**
 * Records the result of a command. A repeated result changes nothing.
 * @returns false if the agent has no such command
 */
export async function recordCommandResult(hub: Hub, agentId: string, result: CommandResult): Promise<boolean> {
  const own = and(eq(agentCommands.id, result.command_id), eq(agentCommands.agentId, agentId))
  const [row] = await hub.read.select().from(agentCommands).where(own)
  if (!row) return false
  if (row.outcome !== null) return true
  await followFirewall(hub, agentId, JSON.parse(row.payload) as AgentCommand, result)
  await record(hub, async tx => {
    const { outcome, detail, output } = result
    await tx
      .update(agentCommands)
      .set({ finishedAt: hub.clock.now(), outcome, detail, output })
      .where(and(own, isNull(agentCommands.outcome)))
    return { result: undefined }
  })
  return true
}

/** A host has a rule set, or keeps it, or could not apply it. */
async function followFirewall(hub: Hub, agentId: string, command: AgentCommand, result: CommandResult): Promise<void> {
  if (command.name !== 'firewall_apply' && command.name !== 'firewall_confirm') return
  const { digest } = command.params
  const detail = result.detail ?? 'The server refused the rules.'
  await recordHostFirewall(
    hub,
    agentId,
    result.outcome === 'done'
      ? { digest, isConfirmed: command.name === 'firewall_confirm' }
      : { digest: null, isConfirmed: false, failed: { digest, detail } },
  )
}

/** The command that an action waits for. */
export async function commandOfAction(read: Reader, actionId: string): Promise<CommandRow | null> {
  const [row] = await read.select().from(agentCommands).where(eq(agentCommands.actionId, actionId))
  return row ?? null
}

/** A command, unless it was deleted. */
export async function commandById(read: Reader, id: string): Promise<CommandRow | null> {
  const [row] = await read.select().from(agentCommands).where(eq(agentCommands.id, id))
  return row ?? null
}

/** Stops waiting for a command, unless it was sent or has finished meanwhile. @returns whether it did */
export async function abandonCommand(tx: Tx, { id, sends }: CommandRow, now: number): Promise<boolean> {
  const given = await tx
    .update(agentCommands)
    .set({ finishedAt: now })
    .where(and(eq(agentCommands.id, id), eq(agentCommands.sends, sends), isNull(agentCommands.finishedAt)))
    .returning({ id: agentCommands.id })
  return given.length > 0
}

/** Deletes old commands. */
export const pruneCommands = (hub: Hub): Promise<void> =>
  pruneRows(hub, agentCommands, lt(agentCommands.expiresAt, hub.clock.now() - keepMs), agentCommands.expiresAt)
