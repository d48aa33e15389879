import { and, eq } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import type { CommitChunk, Next, Work } from '../../actions/kind'
import { CloudError, type Operation } from '../clouds/cloud'
import type { ControllerCommand, Power } from '../controllers/controller'
import { packetByAgent, wakeOnLan } from '../controllers/wake-on-lan'
import { openController } from '../server-controllers/server-controllers'
import { serverControllers } from '../server-controllers/tables'
import type { ServerStatus } from '../shapes'
import type { ServerRow } from '../view'
import { attemptAgain, maybeCarriedOut, providerFailed, timedOut } from './attempts'
import { endOnServer } from './end-on-server'
import type { ServerActionInput } from './input'
import { limitOf, verbRules } from './verbs'
import { wakeByAgent } from './wake-by-agent'

type State = {
  /** When the action times out (ms UTC). */
  deadline: number
  /** Null until the command was sent. */
  operation: Operation | null
  isUncertain: boolean
}

const pollMs = 2_000

/** A chunk of an action that a controller performs, such as a BMC. */
export async function runByController(hub: Hub, work: Work<ServerActionInput, any>): Promise<CommitChunk<any>> {
  const serverId = work.resources[0]!.id
  const { verb, via } = work.input
  const now = hub.clock.now()
  const state: State | null = work.state
  // The intention is committed first, so that a later run knows that the command may have been sent.
  if (state === null)
    return async () => ({ result: { state: { deadline: now + limitOf(work.input), operation: null, isUncertain: false } } })
  const end = (columns: Partial<ServerRow>, next: Next<State>): CommitChunk<State> => {
    return tx => endOnServer(tx, hub, serverId, verb, columns, next)
  }
  const measured = (power: Power | undefined) => columnsOf(power, work.input.statusBefore)
  const failed = (problem: Problem, power?: Power) => end(measured(power), { failed: problem })
  const [row] = await hub.read
    .select()
    .from(serverControllers)
    .where(and(eq(serverControllers.serverId, serverId), eq(serverControllers.kind, via)))
  if (!row) return failed(new Problem('conflict', 'The controller was deleted.'))
  const packet = row.kind === wakeOnLan.kind ? packetByAgent(row.settings) : null
  if (packet) return await wakeByAgent(hub, work, packet, { failed, done: () => end(measured(undefined), { done: {} }) })
  try {
    const controller = await openController(hub, row)
    const finished = async () => end(measured(await controller.power?.()), { done: {} })
    if (state.operation === null) {
      if ((state.isUncertain || work.isRepeated) && !verbRules[verb].isRepeatable)
        return failed(maybeCarriedOut(), await controller.power?.())
      const started = await controller.start(work.input.command as ControllerCommand)
      if (started.state === 'done') return await finished()
      return async () => ({ result: { state: { ...state, operation: started.operation }, at: now + pollMs } })
    }
    const polled = await controller.poll(state.operation)
    if (polled.state !== 'running') return await finished()
    if (now > state.deadline) return failed(timedOut('controller'))
    return async () => ({ result: { state: { ...state, operation: polled.operation }, at: now + pollMs } })
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    const isPassing = error.failure === 'unreachable' || error.failure === 'timeout' || error.failure === 'throttled'
    if (isPassing && now < state.deadline) return attemptAgain(state, error, state.operation === null, now, now + pollMs)
    return failed(providerFailed(error))
  }
}

/** What the power tells about a server. If it was not measured, the server has the same status as before. */
const columnsOf = (power: Power | undefined, before: ServerStatus): Partial<ServerRow> =>
  power === 'on' ? { power, status: 'running' } : power === 'off' ? { power, status: 'off' } : { status: before }
