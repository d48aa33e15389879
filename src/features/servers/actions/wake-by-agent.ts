import type { Hub } from '../../../core/hub'
import { conflict, type Problem } from '../../../core/problem'
import type { CommitChunk, Work } from '../../actions/kind'
import { commandOfAction } from '../agents/command-results'
import { agentsById, isLinked } from '../agents/rows'
import { sendCommand } from '../agents/send-command'
import type { PacketOrder } from '../controllers/wake-on-lan'
import { fetchMs, progressOf } from './by-agent'
import type { ServerActionInput } from './input'

const pollMs = 1_000

/** Ends of the action of a controller. */
interface Ends {
  failed(problem: Problem): CommitChunk<any>
  done(): CommitChunk<any>
}

/** A chunk of an action for which the agent of another server sends a Wake-on-LAN packet. */
export async function wakeByAgent(
  hub: Hub,
  { actionId, workspaceId, actor, state }: Work<ServerActionInput, any>,
  { agentId, ...params }: PacketOrder,
  { failed, done }: Ends,
): Promise<CommitChunk<any>> {
  const again = { result: { state, at: hub.clock.now() + pollMs } }
  const command = await commandOfAction(hub.read, actionId)
  if (command) {
    const progress = progressOf(command, hub.clock.now())
    if (progress === 'running') return async () => again
    return progress === 'done' ? done() : progress.end(failed, async () => again)
  }
  const [agent] = await agentsById(hub.read, workspaceId, [agentId])
  if (!isLinked(agent)) return failed(conflict(`The agent ${agentId}, which sends the packet, does not exist.`))
  if (agent.state !== 'reporting') return failed(conflict(`The agent ${agentId}, which sends the packet, is ${agent.state}.`))
  if (!agent.allow.includes('wake'))
    return failed(
      conflict(
        `The owner of the server of the agent ${agentId} doesn’t allow it to send the packet: \`wake\` is not in \`allow\`.`,
      ),
    )
  const { type, id, name } = actor
  const draft = { agentId, actionId, name: 'wake' as const, params, lifeMs: fetchMs, requestedBy: { type, id, name } }
  return async tx => ({ ...again, ...(await sendCommand(tx, hub, draft)) })
}
