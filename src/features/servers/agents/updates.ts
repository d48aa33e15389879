import { and, eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { targetOf } from '../../../core/rows'
import type { AgentReport } from '../../../wire/agent'
import type { CommandParams } from '../../../wire/agent-command'
import { agentRows, type AgentRow, type AnyAgentRow } from './rows'
import { agents } from './tables'
import { touchAgent } from './touch-agents'

type UpdateColumns = Partial<Pick<AnyAgentRow, 'updateState' | 'updateVersion' | 'updateDetail' | 'updateAt' | 'updateCommandId'>>

/** Records that an agent was asked to update itself. */
export async function beginUpdate(
  tx: Tx,
  hub: Hub,
  agent: AgentRow,
  commandId: string,
  { version }: CommandParams['update'],
): Promise<void> {
  const updateAt = hub.clock.now()
  await tx
    .update(agents)
    .set({ updateState: 'updating', updateVersion: version, updateDetail: null, updateAt, updateCommandId: commandId })
    .where(eq(agents.id, agent.id))
  touchAgent(tx, agent)
}

/** Records that an update failed, or that the agent has not reported since. A report of the agent can still tell otherwise. */
export async function failUpdate(
  tx: Tx,
  hub: Hub,
  agent: AgentRow | undefined,
  commandId: string | undefined,
  updateDetail: string,
): Promise<void> {
  if (!agent || commandId === undefined) return
  const isCurrent = and(eq(agents.id, agent.id), eq(agents.updateCommandId, commandId), eq(agents.updateState, 'updating'))
  await tx.update(agents).set({ updateState: 'failed', updateDetail, updateAt: hub.clock.now() }).where(isCurrent)
  touchAgent(tx, agent)
}

/**
 * What a current report tells about the last update. The server knows best whether it was rolled back; the hub already knows that the
 * new version reports.
 */
export function updateColumns(
  row: AnyAgentRow,
  { version, update }: Pick<AgentReport, 'version' | 'update'>,
  now: number,
): UpdateColumns {
  const { updateState, updateVersion, updateCommandId } = row
  if (updateCommandId === null || updateState === null) return {}
  const isOfIt = update?.command_id === updateCommandId
  if (isOfIt && update.state === 'rolled_back')
    return updateState === 'rolled_back' ? {} : { updateState: 'rolled_back', updateDetail: update.detail, updateAt: now }
  if (version !== updateVersion || updateState === 'updated') return {}
  return { updateState: 'updated', updateDetail: null, updateAt: now }
}

export const rolledBackNotice = (
  row: AgentRow,
  { updateVersion = row.updateVersion, updateDetail }: UpdateColumns,
): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'agent.update_rolled_back',
  resource: targetOf(agentRows, row),
  text: `The update of the agent of ${row.name} to version ${updateVersion} was rolled back. ${updateDetail ?? ''}`.trim(),
  details: { agent_id: row.id, version: updateVersion },
  dedupKey: row.id,
})
