import { readSent, type SentBody } from '../../../../api/compressed-body'
import type { Waiting } from '../../../../api/long-poll'
import type { Hub } from '../../../../core/hub'
import { notFound, Problem } from '../../../../core/problem'
import type { CommandsAnswer } from '../../../../wire/agent'
import { recordSignOfLife } from '../agents'
import { recordCommandResult } from '../command-results'
import type { AgentRow } from '../rows'
import { takeCommands } from '../take-commands'
import { authenticateAgent } from './authenticate'
import { readMessage } from './message'
import { AgentCommandResult } from './shapes'

/** A result has little more than its output. */
const maxResultBytes = { compressed: 64 * 1024, decompressed: 128 * 1024 }

interface Asked {
  request: Request
  ip: string
}

/**
 * Returns what an agent has to do, and waits if it prefers that while there is nothing.
 * @throws Problem 401, 409 if another run of the agent reports, 429, 503
 */
export async function fetchCommands(
  hub: Hub,
  asked: Asked,
  runId: string | undefined,
  waiting: Waiting | null,
): Promise<CommandsAnswer> {
  const { agent } = await authenticateAgent(hub, { ...asked, readBody: async () => new Uint8Array(0) })
  requireCurrent(agent, runId)
  await recordSignOfLife(hub, agent)
  const taken = await takeCommands(hub, agent, waiting)
  return { time: hub.clock.now(), ...taken }
}

/** Stores the result of a command. @throws Problem 400, 401, 404, 413, 415, 422, 429 */
export async function receiveCommandResult(hub: Hub, asked: Asked): Promise<void> {
  let sent!: SentBody
  const readBody = async () => (sent = await readSent(asked.request, maxResultBytes.compressed)).bytes
  const { agent } = await authenticateAgent(hub, { ...asked, readBody })
  const result = await readMessage(AgentCommandResult, sent, maxResultBytes.decompressed)
  if (!(await recordCommandResult(hub, agent.id, result))) throw notFound('command')
}

/** A clone of the machine has the same credentials, but only the one whose reports are accepted has a say. @throws Problem 409 */
export function requireCurrent({ runs }: AgentRow, runId: string | undefined): void {
  if (runId !== undefined && runs[0]?.id === runId) return
  const detail = 'must be of the run whose reports are accepted. Send a report first.'
  throw new Problem('conflict', `run_id ${detail}`, { errors: [{ pointer: '#/run_id', code: 'conflict', detail }] })
}
