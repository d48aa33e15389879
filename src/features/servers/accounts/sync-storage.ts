import { and, eq, isNull } from 'drizzle-orm'
import { AdapterError } from '../../../adapters/failure'
import { countOf, lockLimit } from '../../../access/plans'
import { limitsOf } from '../../../access/workspaces'
import { jobContext, record, systemActor } from '../../../core/change'
import type { AuditDraft, RecordResult } from '../../../core/change-result'
import { addChangeHint } from '../../../core/change-hints'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { insertRow, targetOf } from '../../../core/rows'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import type { Catalog, Cloud } from '../clouds/cloud'
import { saveLabels } from '../label-filter'
import { followedSnapshots } from '../snapshots/follow'
import { servers } from '../tables'
import { followedVolumes } from '../volumes/follow'
import type { Followed, ReadAccount, StoredRow } from './followed'
import { isCurrent } from './readings'
import { syncKind } from './sync-jobs'
import type { CloudAccountRow } from './view'

/** How often volumes and snapshots are read, in milliseconds. Servers are read more often. */
export const storageEveryMs = 5 * 60_000

const followed: readonly Followed[] = [followedVolumes, followedSnapshots]

// Each is one request. If more are missing, the others are confirmed by the next readings.
const maxConfirmed = 20
const rowsPerBatch = 50

/** Reads the volumes and snapshots of an account, and takes over what changed there. A failed reading changes nothing. */
export async function syncStorage(hub: Hub, account: CloudAccountRow, cloud: Cloud, catalog: Catalog | null): Promise<void> {
  for (const of of followed)
    try {
      await follow(hub, account, cloud, catalog, of)
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      hub.log.info({ account: account.id, failure: error.failure }, `the ${of.limit} of a cloud account could not be read`)
    }
}

async function follow(hub: Hub, account: CloudAccountRow, cloud: Cloud, catalog: Catalog | null, of: Followed): Promise<void> {
  const storage = of.storage(cloud)
  if (!storage) return
  const startedAt = hub.clock.now()
  const seen = await storage.list()
  const read: ReadAccount = { account, catalog, serverIds: await serverIdsOf(hub, account.id), now: hub.clock.now() }
  const { table } = of.rows
  const known = (await hub.read.select().from(table).where(eq(table.accountId, account.id))) as unknown as StoredRow[]
  const byRef = new Map(seen.map(one => [one.ref, one]))
  const byMark = new Map(seen.flatMap(one => (one.mark === null ? [] : [[one.mark, one]])))
  const changed: [StoredRow, any][] = []
  const absent: StoredRow[] = []
  for (const row of known) {
    const there = (row.providerRef === null ? undefined : byRef.get(row.providerRef)) ?? byMark.get(row.id)
    if (there && isChanged(row, of.columns(there, read))) changed.push([row, there])
    if (!there && row.providerRef !== null && row.state !== 'missing' && isFree(row, startedAt)) absent.push(row)
    if (isTurnOver()) await yieldToEventLoop()
  }
  for (let at = 0; at < changed.length; at += rowsPerBatch)
    await record(hub, tx => followBatch(tx, of, changed.slice(at, at + rowsPerBatch), startedAt, read))
  for (const row of absent.slice(0, maxConfirmed))
    if ((await storage.get(row.providerRef!)) === null)
      await record(hub, tx => markMissing(tx, hub, of, row.id, account, startedAt))
  const refs = new Set(known.map(row => row.providerRef))
  const ids = new Set(known.map(row => row.id))
  const others = seen.filter(one => !refs.has(one.ref) && !ids.has(one.mark)).flatMap(one => of.added(one, read) ?? [])
  for (let at = 0; at < others.length; at += rowsPerBatch)
    await record(hub, tx => insertFound(tx, hub, of, others.slice(at, at + rowsPerBatch), account))
}

const isFree = (row: StoredRow, startedAt: number): boolean => row.actionId === null && row.writtenAt < startedAt

const isChanged = (row: StoredRow, columns: object): boolean =>
  row.actionId === null &&
  Object.entries(columns).some(
    ([name, value]) =>
      name !== 'writtenAt' && name !== 'priceAt' && !Bun.deepEquals(row[name as keyof StoredRow] ?? null, value ?? null),
  )

/** The servers of an account, by their refs. */
async function serverIdsOf(hub: Hub, accountId: string): Promise<Map<string, string>> {
  const found = await hub.read
    .select({ id: servers.id, ref: servers.providerRef })
    .from(servers)
    .where(and(eq(servers.accountId, accountId), isNull(servers.deletedAt)))
  return new Map(found.flatMap(({ id, ref }) => (ref === null ? [] : [[ref, id]])))
}

async function followBatch(
  tx: Tx,
  { type, rows: { table }, columns }: Followed,
  changed: readonly [StoredRow, any][],
  startedAt: number,
  read: ReadAccount,
): Promise<RecordResult<undefined>> {
  if (!(await isCurrent(tx, read.account))) return { result: undefined }
  // Locked in id order, to avoid deadlocks.
  for (const [{ id }, seen] of changed.toSorted(([a], [b]) => (a.id < b.id ? -1 : 1))) {
    const [row] = await forUpdate(tx.select().from(table).where(eq(table.id, id)))
    // An action has written a newer state, or is working on it.
    if (!row || !isFree(row as StoredRow, startedAt)) continue
    await tx.update(table).set(columns(seen, read)).where(eq(table.id, id))
    addChangeHint(tx, { workspaceId: read.account.workspaceId, action: `cloud.${type}.follow`, type, id, parentId: null })
  }
  return { result: undefined }
}

async function markMissing(
  tx: Tx,
  hub: Hub,
  of: Followed,
  id: string,
  account: CloudAccountRow,
  startedAt: number,
): Promise<RecordResult<undefined>> {
  if (!(await isCurrent(tx, account))) return { result: undefined }
  const { table } = of.rows
  const [found] = await forUpdate(tx.select().from(table).where(eq(table.id, id)))
  const row = found as StoredRow | undefined
  if (!row || !isFree(row, startedAt) || row.state === 'missing') return { result: undefined }
  await tx.update(table).set({ state: 'missing', priceMicros: null, writtenAt: hub.clock.now() }).where(eq(table.id, id))
  const audit = auditOf(of, row, { state: row.state }, { state: 'missing' }, `The ${of.type} no longer exists at the cloud.`)
  return { result: undefined, audits: [audit] }
}

/** Inserts what exists at the cloud, as far as the plan allows. */
async function insertFound(
  tx: Tx,
  hub: Hub,
  of: Followed,
  batch: readonly object[],
  account: CloudAccountRow,
): Promise<RecordResult<undefined>> {
  if (!(await isCurrent(tx, account))) return { result: undefined }
  const { workspaceId } = account
  await lockLimit(tx, of.limit, workspaceId)
  const max = (await limitsOf(tx, workspaceId))[of.limit]
  const room = max === null ? batch.length : Math.max(0, max - (await countOf(tx, of.type, workspaceId)))
  const audits: AuditDraft[] = []
  for (const columns of batch.slice(0, room)) {
    const row = (await insertRow(tx, { hub, workspaceId }, of.rows, columns as never)) as unknown as StoredRow
    const { labels = {} } = columns as { labels?: Record<string, string> }
    if (of.labels) await saveLabels(tx, of.labels, workspaceId, [{ id: row.id, before: {}, after: labels }])
    audits.push(auditOf(of, row, null, { name: row.name, state: row.state }, 'It was found in the cloud account.'))
  }
  return { result: undefined, audits }
}

const auditOf = (of: Followed, row: StoredRow, before: object | null, after: object, reason: string): AuditDraft => ({
  workspaceId: row.workspaceId,
  action: `cloud.${of.type}.follow`,
  actor: systemActor(syncKind),
  context: jobContext,
  targets: [targetOf(of.rows, row)],
  before,
  after,
  reason,
})
