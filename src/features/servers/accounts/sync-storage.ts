import { isDeepStrictEqual } from 'node:util'
import { and, eq, inArray, isNull, or, type SQL } from 'drizzle-orm'
import { AdapterError } from '../../../adapters/failure'
import { countOf, lockLimit } from '../../../access/plans'
import { limitsOf } from '../../../access/workspaces'
import { jobContext, record, systemActor } from '../../../core/change'
import type { AuditDraft, RecordResult } from '../../../core/change-result'
import { addChangeHint } from '../../../core/change-hints'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { insertRow, targetOf } from '../../../core/rows'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import type { Cloud, VolumeUsage } from '../clouds/cloud'
import { saveLabels } from '../label-filter'
import { recordVolumeUsage } from '../metrics/recorder'
import { followedSnapshots } from '../snapshots/follow'
import { servers } from '../tables'
import { followedVolumes } from '../volumes/follow'
import { volumes } from '../volumes/tables'
import type { DatedCatalog } from './catalog'
import { isFree, type Followed, type ReadAccount, type StoredRow } from './followed'
import { isCurrent, someOf } from './readings'
import { restoreStorageLabels } from './restore-labels'
import { syncKind } from './sync-jobs'
import type { CloudAccountRow } from './view'

/** How often volumes and snapshots are read, in milliseconds. Servers are read more often. */
export const storageEveryMs = 5 * 60_000

const followed: readonly Followed[] = [followedVolumes, followedSnapshots]

const maxConfirmingMs = 60_000
const rowsPerBatch = 50

/** Reads the volumes and snapshots of an account, and takes over what changed there. A failed reading changes nothing. */
export async function syncStorage(hub: Hub, account: CloudAccountRow, cloud: Cloud, catalog: DatedCatalog | null): Promise<void> {
  for (const of of followed)
    try {
      await follow(hub, account, cloud, catalog, of)
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      hub.log.info({ account: account.id, failure: error.failure }, `the ${of.limit} of a cloud account could not be read`)
    }
}

interface KnownRow extends StoredRow {
  origin: string
  /** Of snapshots. */
  takenAt?: number | null
}

/** A volume or snapshot as a cloud reports it. */
interface Seen {
  ref: string
  mark: string | null
  /** Of snapshots. */
  createdAt?: number | null
}

/** Rows of a kind of storage. All kinds have these columns. */
const rowsOf = async (read: Reader, of: Followed, where: SQL | undefined): Promise<KnownRow[]> =>
  (await read.select().from(of.rows.table).where(where)) as KnownRow[]

async function follow(
  hub: Hub,
  account: CloudAccountRow,
  cloud: Cloud,
  catalog: DatedCatalog | null,
  of: Followed,
): Promise<void> {
  const storage = of.storage(cloud)
  if (!storage) return
  const startedAt = hub.clock.now()
  const { table } = of.rows
  const before: Pick<KnownRow, 'id' | 'providerRef'>[] = await hub.read
    .select({ id: table.id, providerRef: table.providerRef })
    .from(table)
    .where(eq(table.accountId, account.id))
  const seen: Seen[] = await storage.list()
  const usage = (await storage.usage?.(seen)) ?? new Map<string, VolumeUsage>()
  const read: ReadAccount = {
    account,
    catalog,
    serverIds: await serverIdsOf(hub, account.id),
    volumeIds: await volumeIdsOf(hub, account.id),
    usage,
    now: hub.clock.now(),
  }
  const used = new Map<string, VolumeUsage>()
  const known = await rowsOf(hub.read, of, eq(table.accountId, account.id))
  const ids = new Set<string | null>(known.map(row => row.id))
  const byRef = new Map(seen.map(one => [one.ref, one]))
  const byMark = new Map(seen.flatMap(one => (one.mark === null ? [] : [[one.mark, one]])))
  const changed: [StoredRow, any][] = []
  const absent: KnownRow[] = []
  const matched = new Map<Seen, KnownRow>()
  for (const row of known) {
    const candidates = [row.providerRef === null ? undefined : byRef.get(row.providerRef), byMark.get(row.id)]
    const there = candidates.find(one => one !== undefined && !isAnother(row, one, ids))
    if (there) matched.set(there, row)
    const usedNow = there && usage.get(there.ref)
    if (usedNow) used.set(row.id, usedNow)
    if (there && isChanged(row, of.columns(there, read))) changed.push([row, there])
    if (!there && row.providerRef !== null && row.state !== 'missing' && isFree(row, startedAt)) absent.push(row)
    if (isTurnOver()) await yieldToEventLoop()
  }
  if (used.size > 0) await recordVolumeUsage(hub, used, read.now)
  for (let at = 0; at < changed.length; at += rowsPerBatch)
    await record(hub, tx => followBatch(tx, of, changed.slice(at, at + rowsPerBatch), startedAt, read))
  await restoreStorageLabels(hub, account, of, matched, startedAt)
  await followMissing(hub, account, of, storage, absent, ids, startedAt)
  // What was deleted, or got another ref, while the account was read.
  const refs = new Map(known.map(row => [row.id, row.providerRef]))
  const left = before.filter(row => refs.get(row.id) !== row.providerRef)
  const leftIds = new Set<string | null>(left.map(row => row.id))
  const leftRefs = new Set(left.map(row => row.providerRef))
  const others = seen.filter(one => !matched.has(one) && !ids.has(one.mark) && !leftIds.has(one.mark) && !leftRefs.has(one.ref))
  const found = others.flatMap((one): Found[] => {
    const columns = of.added(one, read)
    return columns === null ? [] : [{ seen: one, columns }]
  })
  for (let at = 0; at < found.length; at += rowsPerBatch)
    await record(hub, tx => insertFound(tx, hub, of, found.slice(at, at + rowsPerBatch), account))
}

/**
 * Whether what has the ref of a row is another volume or snapshot: refs that are names (`pool/name`) are used again after a deletion,
 * numbers are not.
 * @param ids of all rows that may have a mark
 */
function isAnother(row: KnownRow, { ref, mark, createdAt = null }: Seen, ids: ReadonlySet<string | null>): boolean {
  if (mark === row.id || !ref.includes('/')) return false
  if (row.origin === 'made' || (mark !== null && ids.has(mark))) return true
  return createdAt !== null && row.takenAt != null && createdAt !== row.takenAt
}

/** Marks rows as missing that a complete reading doesn't list, each after looking for it by itself. Those that can't be read are left out. */
async function followMissing(
  hub: Hub,
  account: CloudAccountRow,
  of: Followed,
  storage: { get(ref: string): Promise<Seen | null> },
  absent: readonly KnownRow[],
  ids: ReadonlySet<string | null>,
  startedAt: number,
): Promise<void> {
  const beganAt = hub.clock.now()
  for (const row of someOf(absent, Math.floor(startedAt / storageEveryMs))) {
    if (hub.clock.now() > beganAt + maxConfirmingMs) return
    try {
      const there = await storage.get(row.providerRef!)
      if (there !== null && !isAnother(row, there, ids)) continue
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      if (error.failure === 'throttled') return
      continue
    }
    await record(hub, tx => markMissing(tx, hub, of, row.id, account, startedAt))
  }
}

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

/** The volumes of an account, by their refs. */
async function volumeIdsOf(hub: Hub, accountId: string): Promise<Map<string, string>> {
  const found = await hub.read
    .select({ id: volumes.id, ref: volumes.providerRef })
    .from(volumes)
    .where(eq(volumes.accountId, accountId))
  return new Map(found.flatMap(({ id, ref }) => (ref === null ? [] : [[ref, id]])))
}

async function followBatch(
  tx: Tx,
  of: Followed,
  changed: readonly [StoredRow, any][],
  startedAt: number,
  read: ReadAccount,
): Promise<RecordResult<undefined>> {
  const { type, columns } = of
  const { table } = of.rows
  const audits: AuditDraft[] = []
  if (!(await isCurrent(tx, read.account))) return { result: undefined }
  // Locked in id order, to avoid deadlocks.
  for (const [{ id }, seen] of changed.toSorted(([a], [b]) => (a.id < b.id ? -1 : 1))) {
    const [row] = await forUpdate(tx.select().from(table).where(eq(table.id, id)))
    // An action has written a newer state, or is working on it.
    if (!row || !isFree(row as StoredRow, startedAt)) continue
    const after: StoredRow = { ...(row as StoredRow), ...columns(seen, read) }
    await tx.update(table).set(columns(seen, read)).where(eq(table.id, id))
    const [was, is] = [of.recorded(row), of.recorded(after)]
    if (!isDeepStrictEqual(was, is)) audits.push(auditOf(of, after, was, is, 'It was changed at the cloud.'))
    addChangeHint(tx, { workspaceId: read.account.workspaceId, action: `cloud.${type}.follow`, type, id, parentId: null })
  }
  return { result: undefined, audits }
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

interface Found {
  seen: Seen
  columns: object
}

/** Inserts what exists at the cloud, as far as the plan allows, and another reading has not inserted it. */
async function insertFound(
  tx: Tx,
  hub: Hub,
  of: Followed,
  batch: readonly Found[],
  account: CloudAccountRow,
): Promise<RecordResult<undefined>> {
  if (!(await isCurrent(tx, account))) return { result: undefined }
  const { workspaceId } = account
  await lockLimit(tx, of.limit, workspaceId)
  const { table } = of.rows
  const refs = batch.map(({ seen }) => seen.ref)
  const marks = batch.flatMap(({ seen }) => seen.mark ?? [])
  const there = await rowsOf(
    tx,
    of,
    and(eq(table.accountId, account.id), or(inArray(table.providerRef, refs), inArray(table.id, marks))),
  )
  const ids = new Set<string | null>(there.map(row => row.id))
  const absent = batch.filter(
    ({ seen }) => !ids.has(seen.mark) && !there.some(row => row.providerRef === seen.ref && !isAnother(row, seen, ids)),
  )
  const max = (await limitsOf(tx, workspaceId))[of.limit]
  const room = max === null ? absent.length : Math.max(0, max - (await countOf(tx, of.type, workspaceId)))
  const audits: AuditDraft[] = []
  for (const { columns } of absent.slice(0, room)) {
    // Of whichever table it is.
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
