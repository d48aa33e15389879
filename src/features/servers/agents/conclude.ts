import { and, asc, eq, gt, isNull, lte } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Consequences, RecordResult } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { targetOf } from '../../../core/rows'
import { proofsOf } from '../proofs'
import { isQuiet, isSettled, writeState } from '../state'
import { accountStates, controllerStates } from '../states'
import { servers } from '../tables'
import { lockServer, serverRows, type ServerRow } from '../view'
import { lockAgent, type AgentRow } from './rows'
import { agents, isPending, isToNotify } from './tables'

/** A server that has just started may be up a little earlier than its agent. */
const startMs = 300_000
const rowsPerPage = 200

const reasons = {
  reporting: 'The agent reports again.',
  silent: 'The agent stopped reporting.',
  stopped: 'The agent was stopped.',
} as const

/** Updates the health of a server after the state of its agent changed. */
export async function concludeFromAgent(hub: Hub, id: string): Promise<void> {
  await record(hub, tx => conclude(tx, hub, id))
}

async function conclude(tx: Tx, hub: Hub, id: string): Promise<RecordResult<undefined>> {
  const locked = await lockBoth(tx, id)
  if (!locked?.agent.pending) return { result: undefined }
  const { row, agent } = locked
  await tx.update(agents).set({ pending: false }).where(eq(agents.id, id))
  if (row.deletedAt !== null) return { result: undefined }
  const account = (await accountStates(tx, [row])).get(row.accountId ?? '') ?? null
  const by = { source: 'agent' as const, reason: reasons[agent.state] }
  const { events } = await writeState(tx, hub, row, await measuredBy(tx, agent.state, row), await proofsOf(tx, row, account), by)
  return { result: undefined, events }
}

/** Updates the health of a server that has lost its agent. @param row of a server that is locked in the transaction */
export async function concludeWithoutAgent(tx: Tx, hub: Hub, row: ServerRow): Promise<Pick<Consequences, 'events'>> {
  if (row.deletedAt !== null) return {}
  const account = (await accountStates(tx, [row])).get(row.accountId ?? '') ?? null
  const by = { source: 'agent' as const, reason: 'The server no longer has an agent.' }
  const { events } = await writeState(tx, hub, row, await measuredBy(tx, null, row), await proofsOf(tx, row, account), by)
  return { events }
}

/** A server that reports is running. A cloud, a controller, or an action that works on it knows more about its power. */
async function measuredBy(
  tx: Tx,
  state: AgentRow['state'] | null,
  row: ServerRow,
): Promise<Partial<Pick<ServerRow, 'power' | 'status'>>> {
  const controllers = (await controllerStates(tx, [row])).get(row.id) ?? []
  if (row.accountId !== null || row.actionId !== null || controllers.some(one => one.power !== 'unknown')) return {}
  return state === 'reporting' ? { power: 'on', status: 'running' } : { power: 'unknown', status: 'unknown' }
}

async function lockBoth(tx: Tx, id: string): Promise<{ row: ServerRow; agent: AgentRow } | null> {
  const [found] = await tx.select({ serverId: agents.serverId }).from(agents).where(eq(agents.id, id))
  const row = found && found.serverId !== null ? await lockServer(tx, found.serverId) : undefined
  const agent = row && (await lockAgent(tx, id))
  return agent ? { row, agent } : null
}

/** Lets the state of a server follow from its agent with the next watch. @param serverId of a server that is locked in the transaction */
export async function concludeLater(tx: Tx, serverId: string): Promise<void> {
  await tx.update(agents).set({ pending: true }).where(eq(agents.serverId, serverId))
}

/** Updates the health of the servers whose agents changed their state. */
export async function concludePending(hub: Hub): Promise<void> {
  for (let last = ''; ;) {
    const rows = await hub.read
      .select({ id: agents.id })
      .from(agents)
      .where(and(isPending, gt(agents.id, last)))
      .orderBy(asc(agents.id))
      .limit(rowsPerPage)
    for (const { id } of rows) await concludeFromAgent(hub, id)
    if (rows.length < rowsPerPage) return
    last = rows.at(-1)!.id
  }
}

/** Notifies workspaces of silent agents on servers that are up: nothing else would tell about them. */
export async function notifySilent(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const rows = await hub.read
    .select({ id: agents.id })
    .from(agents)
    .innerJoin(servers, eq(servers.id, agents.serverId))
    .where(
      and(
        isToNotify,
        eq(servers.health, 'up'),
        lte(servers.healthSince, now - startMs),
        isNull(servers.deletedAt),
        isSettled(now),
      ),
    )
    .orderBy(asc(agents.id))
    .limit(rowsPerPage)
  for (const { id } of rows)
    await record(hub, async tx => {
      const locked = await lockBoth(tx, id)
      if (!locked) return { result: undefined }
      const { row, agent } = locked
      if (agent.state !== 'silent' || agent.notified || row.health !== 'up' || isQuiet(row, now)) return { result: undefined }
      await tx.update(agents).set({ notified: true }).where(eq(agents.id, id))
      return { result: undefined, notices: [silentNotice(row, agent)] }
    })
}

const silentNotice = (row: ServerRow, { id, lastSeenAt }: AgentRow): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'agent.silent',
  resource: targetOf(serverRows, row),
  text: `The agent of the server ${row.name} has not reported since ${instant(lastSeenAt)}, but the server is up.`,
  details: { agent_id: id, last_seen_at: instant(lastSeenAt) },
  dedupKey: row.id,
})
