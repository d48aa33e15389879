import type { Consequences } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { conflict, Problem } from '../../../core/problem'
import { maxCommandLifeMs, permissionFor, type AgentCommand, type CommandParams } from '../../../wire/agent-command'
import type { CommitChunk, Next, Work } from '../../actions/kind'
import { commandOfAction, abandonCommand, type CommandRow } from '../agents/command-results'
import { agentOf, type AgentRow } from '../agents/rows'
import { sendCommand } from '../agents/send-command'
import { beginUpdate, failUpdate } from '../agents/updates'
import { notAllowed, whyNotAsRoot } from '../available-actions'
import type { ServerRow } from '../view'
import { timedOut } from './attempts'
import { endOnServer } from './end-on-server'
import type { ServerActionInput } from './input'
import { limitOf } from './verbs'

/** The agent must fetch the command in this time. It is connected all the time. */
export const fetchMs = 60_000
/** How long a command may take once it was fetched. */
const runMs = 600_000
const pollMs = 1_000

type Command = Pick<AgentCommand, 'name' | 'params'>

/** The command to the agent that performs an action; null if agents can’t. */
function commandOf({ verb, agentCommand }: Pick<ServerActionInput, 'verb' | 'agentCommand'>): Command | null {
  if (verb === 'reboot' || verb === 'shutdown') return { name: verb, params: {} }
  if (agentCommand?.verb === 'collect') return { name: 'collect', params: {} }
  if (agentCommand?.verb === 'restart_unit') return { name: 'restart_unit', params: { unit: agentCommand.unit } }
  if (agentCommand?.verb === 'update_agent') return { name: 'update', params: agentCommand.program }
  return null
}

/** @throws Problem 409 `conflict` if the owner of the server doesn’t allow it */
export function refuseUnlessAllowed(agent: AgentRow, input: Pick<ServerActionInput, 'verb' | 'agentCommand'>): void {
  const permission = permissionFor(commandOf(input)!)
  if (permission !== 'collect' && !agent.allow.includes(permission)) throw conflict(whyNotAsRoot(agent) ?? notAllowed(permission))
}

/** Sends the command of an action, in the transaction that starts it. */
export async function sendForAction(
  tx: Tx,
  hub: Hub,
  actionId: string,
  agent: AgentRow,
  { type, id, name }: { type: string; id: string | null; name: string | null },
  input: ServerActionInput,
): Promise<Pick<Consequences, 'wakeTopics'>> {
  const command = commandOf(input)!
  // The agent downloads the new version in this time.
  const lifeMs = command.name === 'update' ? maxCommandLifeMs : fetchMs
  const sent = { ...command, ...{ agentId: agent.id, actionId, lifeMs, requestedBy: { type, id, name } } }
  const { id: commandId, ...consequences } = await sendCommand(tx, hub, sent)
  if (command.name === 'update') await beginUpdate(tx, hub, agent, commandId, command.params as CommandParams['update'])
  return consequences
}

type State = {
  /** Whether the agent has stopped since. */
  hasStopped: boolean
  /** When the action times out (ms UTC). */
  deadline: number
}

/** A chunk of an action that an agent performs. The command was sent when the action was started. */
export async function runByAgent(hub: Hub, work: Work<ServerActionInput, any>): Promise<CommitChunk<any>> {
  const { verb, statusBefore } = work.input
  const serverId = work.resources[0]!.id
  const now = hub.clock.now()
  const again = (state: State | null = work.state): CommitChunk<any> => {
    return async () => ({ result: { state: state ?? {}, at: now + pollMs } })
  }
  const end = (tx: Tx, columns: Partial<ServerRow>, next: Next<State>) => endOnServer(tx, hub, serverId, verb, columns, next)
  const isPassing = verb === 'reboot' || verb === 'shutdown'
  const unchanged: Partial<ServerRow> = isPassing ? { status: statusBefore } : {}
  const failed = (problem: Problem): CommitChunk<any> => {
    return async tx => {
      if (verb === 'update_agent') await failUpdate(tx, hub, agent, command?.id, problem.detail)
      return await end(tx, unchanged, { failed: problem })
    }
  }
  const command = await commandOfAction(hub.read, work.actionId)
  const agent = await agentOf(hub.read, serverId)
  if (!command || !agent) return failed(conflict('The agent was removed from the server.'))
  const progress = progressOf(command, now)
  // It may have ended although its result is not known: the program that received the command is gone by then.
  if (verb === 'update_agent' && agent.updateCommandId === command.id) {
    const { updateState, updateVersion: version, updateDetail } = agent
    if (updateState === 'updated') return tx => end(tx, unchanged, { done: { version } })
    if (updateState === 'rolled_back')
      return failed(
        new Problem('provider_failed', `The update was rolled back. ${updateDetail ?? ''}`.trim(), {
          fields: { failure: 'refused' },
        }),
      )
    const isOverdue = now >= command.expiresAt + limitOf(work.input) / 2
    if (progress === 'done') return isOverdue ? failed(timedOut('agent')) : again()
  }
  if (progress === 'running') return again()
  if (progress !== 'done') return progress.end(failed, again())
  if (!isPassing) return tx => end(tx, unchanged, { done: { output: command.output } })
  // The agent has only confirmed that the system was asked to.
  const known: State = work.state?.deadline ? work.state : { hasStopped: false, deadline: now + limitOf(work.input) }
  const state: State = { ...known, hasStopped: known.hasStopped || agent.state !== 'reporting' }
  if (verb === 'shutdown' && state.hasStopped) return tx => end(tx, { status: 'off', power: 'off' }, { done: {} })
  if (verb === 'reboot' && state.hasStopped && agent.state === 'reporting')
    return tx => end(tx, { status: 'running', power: 'on' }, { done: {} })
  return now < state.deadline ? again(state) : failed(timedOut('server'))
}

/** Ends an action whose command failed. `again`: if the agent fetched the command meanwhile. */
interface Failed {
  end(failed: (problem: Problem) => CommitChunk<any>, again: CommitChunk<any>): CommitChunk<any>
}

/** The progress of a command that an action waits for. */
export function progressOf(command: CommandRow, now: number): 'running' | 'done' | Failed {
  if (command.outcome === 'done') return 'done'
  if (command.finishedAt !== null) return { end: failed => failed(failure(command)) }
  const problem = overdue(command, now)
  if (!problem) return 'running'
  return { end: (failed, again) => async tx => ((await abandonCommand(tx, command, now)) ? failed(problem)(tx) : again(tx)) }
}

/** Why a command without a result is not waited for any longer; null if it is. */
function overdue({ sentAt, expiresAt }: CommandRow, now: number): Problem | null {
  if (sentAt === null && now >= expiresAt)
    return new Problem('provider_failed', 'The agent did not fetch the command in time, so it is not run.', {
      fields: { failure: 'timeout' },
    })
  if (sentAt !== null && now >= sentAt + runMs)
    return new Problem('interrupted', 'The agent fetched the command, but did not report a result. It may have been run.')
  return null
}

function failure({ outcome, detail }: CommandRow): Problem {
  const reason = detail ?? 'No reason was reported.'
  if (outcome === 'refused')
    return new Problem('provider_failed', `The server refused the command. ${reason}`, { fields: { failure: 'refused' } })
  if (outcome === 'expired')
    return new Problem('provider_failed', `The server did not run the command. ${reason}`, {
      fields: { failure: 'timeout' },
    })
  return new Problem('provider_failed', reason, { fields: { failure: 'refused' } })
}
