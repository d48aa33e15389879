import { and, asc, gt, isNotNull, isNull, lt, lte, sql } from 'drizzle-orm'
import { record } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { pruneRows } from '../../core/rows'
import { openActionIds } from '../actions/open-actions'
import { syncJobFor } from './accounts/sync-jobs'
import { healthOf } from './health'
import { proofsBy, proofsOf, proofStatuses } from './proofs'
import { accountStates } from './states'
import { agentsOf } from './agents/rows'
import { concludeLater, concludePending, notifySilent } from './agents/conclude'
import { pruneAgents } from './agents/prune'
import { markSilent } from './agents/silence'
import { isQuiet, writeState } from './state'
import { lockServer } from './view'
import { pruneJournal } from './journal/prune'
import { servers, serverTransitions } from './tables'
import type { ServerRow } from './view'
import type { AccountState } from './accounts/view'

const dayMs = 86_400_000
/** How long a deleted server can be looked up. */
const tombstoneMs = 30 * dayMs
/** How long changes of the state are kept. */
const transitionMs = 90 * dayMs
const rowsPerPage = 200

/**
 * Updates the health of servers with agents or bound monitors and of those for which nothing could be concluded for a time, and frees
 * servers whose action ended without a result.
 */
export async function watchServers(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  await markSilent(hub)
  await concludePending(hub)
  await eachPage(hub, sql`${servers.healthMonitorIds} <> '[]'`, async rows => {
    const accounts = await accountStates(hub.read, rows)
    const known = await agentsOf(hub.read, rows)
    const statuses = await proofStatuses(hub.read, null, [...new Set(rows.flatMap(row => row.healthMonitorIds))])
    for (const row of rows) {
      // Nothing is concluded before that time.
      if (isQuiet(row, now)) continue
      const account = accounts.get(row.accountId ?? '') ?? null
      const health = healthOf({ ...row, ...proofsBy(statuses, row, account, known.get(row.id)) })
      if (health.health !== row.health || health.source !== row.healthSource)
        await record(hub, tx => concludeAgain(tx, hub, row.id, account))
    }
  })
  await eachPage(hub, and(isNull(servers.actionId), lte(servers.quietUntil, now))!, async rows => {
    const accounts = await accountStates(hub.read, rows)
    for (const row of rows) await record(hub, tx => concludeAgain(tx, hub, row.id, accounts.get(row.accountId ?? '') ?? null))
  })
  await notifySilent(hub)
  await eachPage(hub, isNotNull(servers.actionId), async rows => {
    const open = await openActionIds(
      hub.read,
      rows.flatMap(row => row.actionId ?? []),
    )
    for (const row of rows) if (!open.has(row.actionId!)) await record(hub, tx => release(tx, hub, row))
  })
}

async function eachPage(hub: Hub, condition: ReturnType<typeof sql>, visit: (rows: ServerRow[]) => Promise<void>): Promise<void> {
  for (let last = ''; ;) {
    const rows = await hub.read
      .select()
      .from(servers)
      .where(and(isNull(servers.deletedAt), gt(servers.id, last), condition))
      .orderBy(asc(servers.id))
      .limit(rowsPerPage)
    await visit(rows)
    if (rows.length < rowsPerPage) return
    last = rows.at(-1)!.id
  }
}

async function concludeAgain(tx: Tx, hub: Hub, id: string, account: AccountState | null): Promise<RecordResult<undefined>> {
  const row = await lockServer(tx, id)
  if (!row) return { result: undefined }
  const by = { source: 'monitor' as const, reason: 'A monitor changed its status.' }
  const isOver = row.actionId === null && row.quietUntil !== null && row.quietUntil <= hub.clock.now()
  const columns = isOver ? { quietUntil: null } : {}
  const { events } = await writeState(tx, hub, row, columns, await proofsOf(tx, row, account), by)
  return { result: undefined, events }
}

/** Frees a server whose action has ended without writing its state, such as after repeated internal errors. */
async function release(tx: Tx, hub: Hub, { id, actionId }: ServerRow): Promise<RecordResult<undefined>> {
  const row = await lockServer(tx, id)
  if (!row || row.actionId !== actionId) return { result: undefined }
  const isCreated = row.accountId === null || row.cloud !== null || row.providerRef !== null
  const by = { source: 'action' as const, reason: 'The action ended with an error.' }
  // A server that may have been bought keeps its price, until a reading finds it or it is deleted.
  const columns = { actionId: null, status: isCreated ? ('unknown' as const) : ('error' as const) }
  const proofs = { ...(await proofsOf(tx, row, null)), isCloudFresh: false }
  const { events } = await writeState(tx, hub, row, columns, proofs, by)
  // Its agent may tell the status that the action did not.
  await concludeLater(tx, id)
  return { result: undefined, events, jobs: row.accountId === null ? [] : [syncJobFor(row.accountId, hub.clock.now())] }
}

/** Deletes servers that were deleted long ago, old changes of states, agents that nobody approved, and expired enrolment keys. */
export async function pruneServers(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  await pruneAgents(hub)
  await pruneRows(hub, servers, lt(servers.deletedAt, now - tombstoneMs), servers.deletedAt)
  await pruneRows(hub, serverTransitions, lt(serverTransitions.at, now - transitionMs), serverTransitions.at)
  await pruneJournal(hub)
}
