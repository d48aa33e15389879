import { instant } from '../../core/clock'
import type { LinkedState } from './agents/shapes'
import type { FactSource, ServerHealth, ServerStatus } from './shapes'

/** What is known about whether a server is alive. */
export interface Proofs {
  status: ServerStatus
  power: 'on' | 'off' | 'unknown'
  /** Whether the cloud confirmed status and power recently. */
  isCloudFresh: boolean
  /** Whether a controller measured the power, of a server without a cloud. */
  isPowerMeasured?: boolean
  /** Monitors bound to the server that have a result. */
  monitors: readonly { isUp: boolean }[]
  /** The agent of the server, if it has one. */
  agent?: AgentProof | null
}

/** What is known about a server in addition to its status and power. */
export type OtherProofs = Omit<Proofs, 'status' | 'power'>

interface AgentProof {
  /** `disconnected`: silent together with all other agents of the workspace, so probably the hub can’t be reached. */
  state: LinkedState | 'disconnected'
  /** When it last reported (ms UTC). */
  lastSeenAt: number
}

interface Health {
  health: ServerHealth
  source: FactSource | null
  reason: string
}

/**
 * Concludes the health of a server. A sign of life counts more than a sign of death, and both count more than the word of the cloud:
 * it reports a server whose system has crashed as running.
 */
export function healthOf({ status, power, isCloudFresh, isPowerMeasured = false, monitors, ...rest }: Proofs): Health {
  // The last report of a deleted server may be a few seconds old.
  const agent = status === 'deleted' ? null : rest.agent
  if (agent?.state === 'reporting') return { health: 'up', source: 'agent', reason: 'The agent of the server is reporting.' }
  // Without names: who can read servers may not be able to read their monitors.
  if (monitors.some(one => one.isUp)) return { health: 'up', source: 'monitor', reason: 'A monitor of the server is up.' }
  if ((isCloudFresh || isPowerMeasured) && power === 'off')
    return { health: 'down', source: isCloudFresh ? 'cloud' : 'controller', reason: 'The server is switched off.' }
  const isSuspended = isCloudFresh && status === 'suspended'
  if (agent?.state === 'silent' && !isSuspended)
    return { health: 'down', source: 'agent', reason: `The agent has not reported since ${instant(agent.lastSeenAt)}.` }
  if (monitors.length > 0) return { health: 'down', source: 'monitor', reason: 'All monitors of the server are down.' }
  if (isCloudFresh && status === 'running')
    return { health: 'up', source: 'cloud', reason: 'The cloud reports the status running.' }
  return { health: 'unknown', source: null, reason: reasonUnknown(status, isCloudFresh, agent?.state) }
}

function reasonUnknown(status: ServerStatus, isCloudFresh: boolean, agent: AgentProof['state'] | undefined): string {
  if (status === 'draft') return 'The server has not been created yet.'
  if (status === 'missing') return 'The server no longer exists at the cloud.'
  if (status === 'deleted') return 'The server was deleted.'
  if (agent === 'stopped') return 'The agent was stopped.'
  if (agent === 'disconnected') return 'All agents of the workspace stopped reporting at the same time.'
  return isCloudFresh ? `The cloud reports the status ${status}.` : 'There is no current information about the server.'
}
