import { and, asc, eq, gt, isNull, lte, sql } from 'drizzle-orm'
import { waitFor, type WaitLimits, type Waiting } from '../../../api/long-poll'
import { record } from '../../../core/change'
import { forUpdate } from '../../../core/db/dialect'
import { prepared } from '../../../core/db/prepared'
import type { Hub } from '../../../core/hub'
import { topicsOf } from '../../../core/topics'
import type { CommandsAnswer } from '../../../wire/agent'
import type { SignedCommand } from '../../../wire/agent-command'
import { liveServersOf } from '../live/live-servers'
import { agentCommands } from './command-tables'
import type { AgentRow } from './rows'
import { commandTopic } from './send-command'

/** A command whose response may have been lost is sent again after this time. Agents run a command once, however often it is sent. */
const resendMs = 10_000
const maxSends = 3
/** An agent gets at most this many commands at once. */
const maxAtOnce = 10
/** All agents wait most of the time. They are woken by commits, and by `watchDue` for those of other hubs. */
const agentWaits: WaitLimits = { name: 'agents', ofWorkspace: 10_000, inAll: 10_000, pollMs: null }
const dueMs = 1_000

/** What an agent has to do: commands to run, and for how many seconds it must send live metrics (see `LiveServers`). */
type Taken = Pick<CommandsAnswer, 'commands' | 'live_seconds'>

/**
 * Returns what an agent has to do. If there is nothing, waits if the request prefers that. A newer request of the same agent ends the
 * wait: the connection of the older one may be dead.
 * @throws Problem 503 if too many agents are waiting
 */
export async function takeCommands(
  hub: Hub,
  { id, workspaceId, serverId }: Pick<AgentRow, 'id' | 'workspaceId' | 'serverId'>,
  waiting: Waiting | null,
): Promise<Taken> {
  const look = async (): Promise<Taken | null> => {
    const commands = await take(hub, id)
    const liveSeconds = liveServersOf(hub).secondsToStart(serverId)
    return commands || liveSeconds > 0 ? { commands: commands ?? [], live_seconds: liveSeconds } : null
  }
  const nothing: Taken = { commands: [], live_seconds: 0 }
  if (!waiting) return (await look()) ?? nothing
  const { latest } = waitsOf(hub)
  const ended = new AbortController()
  latest.get(id)?.abort()
  latest.set(id, ended)
  // `AbortSignal.any` would need a third signal, of 1 KB, for each agent that waits.
  const end = () => ended.abort()
  waiting.signal.addEventListener('abort', end)
  if (waiting.signal.aborted) end()
  const leave = watchDue(hub)
  const own: Waiting = { ...waiting, signal: ended.signal }
  try {
    return (await waitFor({ hub, workspaceId }, own, commandTopic(id), look, agentWaits)) ?? nothing
  } finally {
    waiting.applied = own.applied
    waiting.signal.removeEventListener('abort', end)
    leave()
    if (latest.get(id) === ended) latest.delete(id)
  }
}

const isDue = and(
  eq(agentCommands.agentId, sql.placeholder('agentId')),
  isNull(agentCommands.finishedAt),
  lte(agentCommands.sendAt, sql.placeholder('now')),
  gt(agentCommands.expiresAt, sql.placeholder('now')),
)

/** Takes the commands that can be sent now; null if there are none. */
async function take(hub: Hub, agentId: string): Promise<SignedCommand[] | null> {
  const query = prepared(hub.read, 'agent-command-due', read =>
    read.select({ id: agentCommands.id }).from(agentCommands).where(isDue).limit(1),
  )
  const [first] = await query.execute({ agentId, now: hub.clock.now() })
  if (!first) return null
  const rows = await record(hub, async tx => {
    const now = hub.clock.now()
    const due = prepared(tx, 'agent-commands-due', handle =>
      forUpdate(handle.select().from(agentCommands).where(isDue).orderBy(asc(agentCommands.id)).limit(maxAtOnce)),
    )
    const found = await due.execute({ agentId, now })
    for (const { id, sends } of found)
      await tx
        .update(agentCommands)
        .set({ sentAt: now, sends: sends + 1, sendAt: sends + 1 < maxSends ? now + resendMs : null })
        .where(eq(agentCommands.id, id))
    return { result: found }
  })
  return rows.length > 0 ? rows.map(({ payload, signature }) => ({ payload, signature })) : null
}

interface Waits {
  /** The wait of each agent. */
  latest: Map<string, AbortController>
  count: number
  timer: { cancel(): void } | null
}
const waits = new WeakMap<Hub, Waits>()

function waitsOf(hub: Hub): Waits {
  let own = waits.get(hub)
  if (!own) waits.set(hub, (own = { latest: new Map(), count: 0, timer: null }))
  return own
}

/** While agents wait, wakes those with commands that other hubs created, or that have to be sent again: one query a second for all. */
function watchDue(hub: Hub): () => void {
  const own = waitsOf(hub)
  const schedule = () => {
    own.timer = hub.clock.after(dueMs, () => void wakeDue(hub).then(() => (own.count > 0 ? schedule() : (own.timer = null))))
  }
  if (own.count++ === 0 && !own.timer) schedule()
  return () => void own.count--
}

async function wakeDue(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  try {
    const due = await hub.read
      .selectDistinct({ agentId: agentCommands.agentId })
      .from(agentCommands)
      .where(and(isNull(agentCommands.finishedAt), lte(agentCommands.sendAt, now), gt(agentCommands.expiresAt, now)))
      .limit(maxWoken)
    for (const { agentId } of due) topicsOf(hub).wake(commandTopic(agentId))
  } catch (error) {
    hub.log.warn({ err: error }, 'could not look for commands to agents')
  }
}
const maxWoken = 1_000
