import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, gt, gte, inArray, isNull } from 'drizzle-orm'
import { AdapterError } from '../../../adapters/failure'
import { suspendedRetryMs } from '../../../access/suspension'
import { countOf, lockLimit } from '../../../access/plans'
import { workspaces } from '../../../access/tables'
import { limitsOf } from '../../../access/workspaces'
import { jobContext, record, systemActor } from '../../../core/change'
import type { AuditDraft, RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import type { NoticeDraft } from '../../../core/notices'
import { pluralize } from '../../../core/pluralize'
import { insertRow, targetOf } from '../../../core/rows'
import { DecryptionFailed } from '../../../core/secrets'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { seenColumns } from '../actions/kinds'
import { isAnother, withIdentity } from '../same-server'
import { cloudKindOf } from '../clouds'
import type { Cloud, CloudFailure, CloudServer, Price, Reading } from '../clouds/cloud'
import { checkFirewalls } from '../firewalls/drift'
import { attachOrdered } from '../firewalls/ordered'
import { followLabels } from '../firewalls/selectors'
import { matchesSelector, parseSelector } from '../labels'
import { priceColumns } from '../money'
import { recordUsage } from '../metrics/recorder'
import { proofsOf } from '../proofs'
import { newColumns } from '../servers'
import { writeState } from '../state'
import { servers } from '../tables'
import { labelsOf, maxSyncFailures, serverRows, type ServerRow } from '../view'
import { catalogOf, type DatedCatalog } from './catalog'
import { openCloud } from './open'
import { isCurrent, isSameAccess, someOf } from './readings'
import { restoreLabels } from './restore-labels'
import { syncJobFor, syncKind } from './sync-jobs'
import { storageEveryMs, syncStorage } from './sync-storage'
import { cloudAccounts } from './tables'
import type { CloudAccountRow } from './view'

const maxBackoffMs = 10 * 60_000
const maxConfirmingMs = 60_000
/** Pause before the next reading if the status of a server just became unreadable, which for example is the case while it stops. */
const unsettledMs = 3000
// Keeps transactions short.
const rowsPerBatch = 50
// Parsing more at once would block other work.
const rowsPerPage = 500

/** Reads the servers of an account, takes over what changed there, and schedules the next reading. */
export const syncAccountJob: JobKind<{ cloud_account_id: string }> = {
  kind: syncKind,
  concurrency: 8,
  lanes: sequentialLanes,
  leaseMs: 10 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, { payload }) {
    const [found] = await hub.read
      .select({ account: cloudAccounts, suspendedAt: workspaces.suspendedAt })
      .from(cloudAccounts)
      .innerJoin(workspaces, eq(workspaces.id, cloudAccounts.workspaceId))
      .where(eq(cloudAccounts.id, payload.cloud_account_id))
    if (!found) return undefined
    const { account } = found
    if (found.suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [syncJobFor(account.id, hub.clock.now() + suspendedRetryMs)] })
    const outcome = await syncAccount(hub, account)
    return tx => finishSync(tx, hub, account, outcome)
  },
}

export interface SyncSuccess {
  startedAt: number
  reading: Reading
  unclaimed: number
  /** What the unclaimed servers cost per month, in millionths. */
  unclaimedMicros: number
  /** Whether the status of a server could not be read that could be read before. */
  isUnsettled: boolean
  /** When volumes and snapshots were read. */
  storageSyncedAt: number | null
  error: null
}

type SyncOutcome = SyncSuccess | { error: { code: CloudFailure; detail: string }; retryAfterMs: number | null }

/**
 * Reads an account, and writes what changed. A failed reading changes no server.
 * @param isFull whether volumes and snapshots are read, even if they are not due
 */
export async function syncAccount(hub: Hub, account: CloudAccountRow, isFull = false): Promise<SyncOutcome> {
  const startedAt = hub.clock.now()
  try {
    const cloud = await openCloud(hub, account, false)
    const reading = await cloud.list()
    const readAt = hub.clock.now()
    const catalog = cloudKindOf(account.kind)!.capabilities.hasPrices ? await catalogOf(hub, account, false) : null
    const known = await knownServers(hub, account.id)
    const matched = await matchedServers(known, reading)
    await recordUsage(hub, matched, reading, readAt)
    await followKnown(hub, account, matched, startedAt, catalog)
    await restoreLabels(hub, account, matched)
    await followMissing(hub, account, known, matched, startedAt, cloud)
    await checkFirewalls(hub, account, cloud, startedAt)
    const rest = await addFound(hub, account, matched, reading, startedAt, catalog)
    const isUnsettled = [...matched].some(([row, { status }]) => status === 'error' && row.status !== 'error')
    const isDue = isFull || (account.storageSyncedAt ?? 0) <= startedAt - storageEveryMs
    if (isDue) await syncStorage(hub, account, cloud, catalog)
    return { startedAt, reading, ...rest, isUnsettled, storageSyncedAt: isDue ? startedAt : account.storageSyncedAt, error: null }
  } catch (error) {
    if (error instanceof AdapterError)
      return { error: { code: error.failure as CloudFailure, detail: error.message }, retryAfterMs: error.retryAfterMs }
    if (error instanceof DecryptionFailed)
      return {
        error: { code: 'unauthorized', detail: 'The stored secrets can’t be decrypted with the available keys.' },
        retryAfterMs: null,
      }
    throw error
  }
}

/** Stores when the account was read, and when it is read next. */
export async function finishSync(
  tx: Tx,
  hub: Hub,
  read: CloudAccountRow,
  outcome: SyncOutcome,
): Promise<RecordResult<undefined>> {
  const { id } = read
  const [account] = await forUpdate(tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, id)))
  const kind = account && cloudKindOf(account.kind)
  if (!account || !kind) return { result: undefined }
  if (!isSameAccess(account, read))
    return { result: undefined, jobs: account.nextSyncAt === null ? [] : [syncJobFor(id, account.nextSyncAt)] }
  const listed = outcome.error ? null : new Set(outcome.reading.servers.map(one => one.ref))
  // Those that are new may be missing from the reading.
  const ignoredBefore = new Set(read.ignoredRefs)
  const failures = outcome.error ? account.syncFailures + 1 : 0
  const everyMs = kind.syncSeconds * 1000
  const pauseMs = outcome.error
    ? Math.max(Math.min(everyMs * 2 ** Math.max(0, failures - maxSyncFailures), maxBackoffMs), outcome.retryAfterMs ?? 0)
    : outcome.isUnsettled
      ? unsettledMs
      : everyMs
  const nextSyncAt = hub.clock.now() + pauseMs
  await tx
    .update(cloudAccounts)
    .set({
      syncFailures: failures,
      syncError: outcome.error,
      nextSyncAt,
      ...(!outcome.error && {
        syncedAt: outcome.startedAt,
        unclaimed: outcome.unclaimed,
        unclaimedMicros: outcome.unclaimedMicros,
        storageSyncedAt: outcome.storageSyncedAt,
        lacks: [...outcome.reading.lacks],
        rate: outcome.reading.rate,
        ignoredRefs: account.ignoredRefs.filter(ref => listed!.has(ref) || !ignoredBefore.has(ref)),
      }),
    })
    .where(eq(cloudAccounts.id, id))
  return {
    result: undefined,
    jobs: [
      syncJobFor(id, nextSyncAt),
      ...(failures === maxSyncFailures ? [{ kind: forgetKind, payload: { cloud_account_id: id } }] : []),
    ],
  }
}

async function knownServers(hub: Hub, accountId: string): Promise<ServerRow[]> {
  const known: ServerRow[] = []
  for (let more = true; more;) {
    const page = await hub.read
      .select()
      .from(servers)
      .where(and(eq(servers.accountId, accountId), isNull(servers.deletedAt), gt(servers.id, known.at(-1)?.id ?? '')))
      .orderBy(asc(servers.id))
      .limit(rowsPerPage)
    known.push(...page)
    more = page.length === rowsPerPage
    if (more) await yieldToEventLoop()
  }
  return known
}

/** Servers with what a reading reports of them. */
type Matched = Map<ServerRow, CloudServer>

/** Finds servers in a reading by their refs, or by the mark of a server whose creation was interrupted. */
async function matchedServers(known: readonly ServerRow[], { servers: seen }: Reading): Promise<Matched> {
  const byRef = new Map(seen.map(one => [one.ref, one]))
  const byMark = new Map(seen.flatMap(one => (one.mark === null ? [] : [[one.mark, one]])))
  const matched: Matched = new Map()
  for (const row of known) {
    const candidates = [row.providerRef === null ? undefined : byRef.get(row.providerRef), byMark.get(row.id)]
    const found = candidates.find(one => one !== undefined && !isAnother(row, one))
    if (found) matched.set(row, withIdentity(row, found))
    if (isTurnOver()) await yieldToEventLoop()
  }
  return matched
}

async function followKnown(
  hub: Hub,
  account: CloudAccountRow,
  matched: Matched,
  startedAt: number,
  catalog: DatedCatalog | null,
): Promise<void> {
  const changed: [ServerRow, CloudServer][] = []
  for (const [row, there] of matched) {
    if (isChanged(row, there, account, catalog)) changed.push([row, there])
    if (isTurnOver()) await yieldToEventLoop()
  }
  for (let at = 0; at < changed.length; at += rowsPerBatch)
    await record(hub, tx => followBatch(tx, hub, account, changed.slice(at, at + rowsPerBatch), startedAt, catalog))
}

/** Whether a reading differs from what is stored. */
const isChanged = (row: ServerRow, seen: CloudServer, account: CloudAccountRow, catalog: DatedCatalog | null): boolean =>
  row.actionId === null &&
  (row.order !== null ||
    row.status !== seen.status ||
    row.power !== seen.power ||
    !isDeepStrictEqual(row.cloud, seen) ||
    stillRemoved(row, seen).length < row.removedLabels.length ||
    newPrice(row, account, catalog, seen) !== undefined)

/** Keys of labels that are still to be removed at the cloud. Once they are gone there, others may use them. */
const stillRemoved = ({ removedLabels }: ServerRow, seen: CloudServer): string[] =>
  removedLabels.filter(key => Object.hasOwn(seen.labels, key))

/** The price of a server if it differs from the one that is stored; undefined if it stays. A known price outlives its catalog. */
function newPrice(
  { cloud, priceMicros }: ServerRow,
  account: CloudAccountRow,
  catalog: DatedCatalog | null,
  seen: CloudServer,
): Price | null | undefined {
  const price = priceOfSeen(account, catalog, seen)
  if ((price?.monthlyMicros ?? null) === priceMicros) return undefined
  const isAsBefore = cloud !== null && isDeepStrictEqual(pricedBy(cloud), pricedBy(seen))
  return price === null && isAsBefore ? undefined : price
}

/** What the price of a server depends on. */
const pricedBy = ({ size, location, addresses, backups }: CloudServer) => ({
  size,
  location,
  enableIpv4: addresses.some(one => one.family === 4 && one.scope === 'public'),
  backups: backups ?? false,
})

function priceOfSeen(account: CloudAccountRow, catalog: DatedCatalog | null, seen: CloudServer): Price | null {
  const { size, ...rest } = pricedBy(seen)
  if (catalog === null || size === null) return null
  return cloudKindOf(account.kind)!.price?.(catalog, { size: { slug: size }, ...rest }) ?? null
}

async function followBatch(
  tx: Tx,
  hub: Hub,
  account: CloudAccountRow,
  changed: readonly [ServerRow, CloudServer][],
  startedAt: number,
  catalog: DatedCatalog | null,
): Promise<RecordResult<undefined>> {
  const done: Required<Pick<RecordResult<undefined>, 'audits' | 'events'>> = { audits: [], events: [] }
  const relabeled: ServerRow[] = []
  const created: ServerRow[] = []
  if (!(await isCurrent(tx, account))) return { result: undefined }
  const now = hub.clock.now()
  // Locked in id order, to avoid deadlocks.
  for (const [{ id }, seen] of changed.toSorted(([a], [b]) => (a.id < b.id ? -1 : 1))) {
    const [row] = await forUpdate(tx.select().from(servers).where(eq(servers.id, id)))
    // An action has written a newer state, or is working on it.
    if (!row || row.actionId !== null || row.writtenAt >= startedAt) continue
    const price = newPrice(row, account, catalog, seen)
    const after = {
      ...seenColumns(seen),
      removedLabels: stillRemoved(row, seen),
      ...(price !== undefined && priceColumns(price, catalog?.readAt ?? null)),
      ...(row.order !== null && { order: null }),
      writtenAt: now,
    }
    const proofs = { ...(await proofsOf(tx, { ...row, ...after }, account)), isCloudFresh: true }
    const by = { source: 'cloud' as const, reason: `The cloud reports the status ${seen.status}.` }
    const written = await writeState(tx, hub, row, after, proofs, by)
    done.events.push(...written.events)
    const audit = followAudit(row, written.row)
    if (audit) done.audits.push(audit)
    const isSame = row.providerRef === written.row.providerRef && isDeepStrictEqual(labelsOf(row), labelsOf(written.row))
    if (!isSame) relabeled.push(written.row)
    if (row.order !== null) created.push({ ...written.row, order: row.order })
  }
  const followed = [await followLabels(tx, account.workspaceId, relabeled)]
  for (const one of created) followed.push(await attachOrdered(tx, one))
  return {
    ...{ result: undefined, events: done.events },
    jobs: followed.flatMap(one => one.jobs),
    audits: [...done.audits, ...followed.flatMap(one => one.audits)],
  }
}

/** What people see of a server that its cloud can change. Status and power have a history of their own. */
const followedView = ({ name, location, cloud }: ServerRow) => ({
  name,
  location,
  size: cloud?.size ?? null,
  cores: cloud?.resources.cores ?? null,
  memory_bytes: cloud?.resources.memoryBytes ?? null,
  disk_bytes: cloud?.resources.diskBytes ?? null,
  labels: cloud?.labels ?? {},
  protection: cloud?.protection ?? null,
  addresses: cloud?.addresses.map(one => one.address) ?? [],
})

function followAudit(before: ServerRow, after: ServerRow): AuditDraft | null {
  const [was, is] = [followedView(before), followedView(after)]
  if (before.cloud === null || isDeepStrictEqual(was, is)) return null
  return auditOf(after, was, is, 'It was changed at the cloud.')
}

const auditOf = (row: ServerRow, before: object | null, after: object | null, reason: string): AuditDraft => ({
  workspaceId: row.workspaceId,
  action: 'cloud.server.follow',
  actor: systemActor(syncKind),
  context: jobContext,
  targets: [targetOf(serverRows, row)],
  before,
  after,
  reason,
})

/** Marks servers as missing that a complete reading doesn't list, each after looking for it by itself. */
async function followMissing(
  hub: Hub,
  account: CloudAccountRow,
  known: readonly ServerRow[],
  matched: Matched,
  startedAt: number,
  cloud: Cloud,
): Promise<void> {
  const absent = known.filter(
    row =>
      row.providerRef !== null &&
      !matched.has(row) &&
      row.actionId === null &&
      row.status !== 'missing' &&
      row.writtenAt < startedAt,
  )
  const turn = Math.floor(startedAt / (cloudKindOf(account.kind)!.syncSeconds * 1000))
  for await (const [row, there] of readAgain(hub, cloud, someOf(absent, turn)))
    if (there === null || isAnother(row, there)) await record(hub, tx => markMissing(tx, hub, account, row.id, startedAt))
}

/** Reads servers by themselves. Those that can't be read are left out: the reading was complete, and they are read again after another. */
async function* readAgain(
  hub: Hub,
  cloud: Cloud,
  rows: readonly ServerRow[],
): AsyncGenerator<[row: ServerRow, there: CloudServer | null]> {
  const beganAt = hub.clock.now()
  const batches = cloud.getMany ? [rows] : rows.map(one => [one])
  for (const batch of batches) {
    if (batch.length === 0 || hub.clock.now() > beganAt + maxConfirmingMs) return
    const refs = batch.map(one => one.providerRef!)
    try {
      const there = cloud.getMany ? await cloud.getMany(refs) : [await cloud.get(refs[0]!)]
      for (const [at, row] of batch.entries()) yield [row, there[at]!]
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      if (error.failure === 'throttled') return
    }
  }
}

async function markMissing(
  tx: Tx,
  hub: Hub,
  account: CloudAccountRow,
  id: string,
  startedAt: number,
): Promise<RecordResult<undefined>> {
  const [row] = await forUpdate(tx.select().from(servers).where(eq(servers.id, id)))
  if (!row || row.actionId !== null || row.status === 'missing' || row.writtenAt >= startedAt) return { result: undefined }
  if (!(await isCurrent(tx, account))) return { result: undefined }
  const reason = 'The server no longer exists at the cloud.'
  const { row: after, events } = await writeState(
    tx,
    hub,
    row,
    { status: 'missing', power: 'unknown', priceMicros: null, writtenAt: hub.clock.now() },
    { ...(await proofsOf(tx, row, account)), isCloudFresh: true },
    { source: 'cloud', reason },
  )
  const notice: NoticeDraft = {
    workspaceId: row.workspaceId,
    kind: 'server.missing',
    resource: targetOf(serverRows, row),
    text: `The server ${row.name} no longer exists in the cloud account ${account.name}. Delete it here if that is intended.`,
    details: { account_id: account.id, provider_ref: row.providerRef },
    dedupKey: row.id,
  }
  return {
    result: undefined,
    events,
    notices: [notice],
    audits: [auditOf(after, { status: row.status }, { status: 'missing' }, reason)],
  }
}

/** Adds servers that are not in the workspace, as the account says. Returns how many remain. */
async function addFound(
  hub: Hub,
  account: CloudAccountRow,
  matched: Matched,
  { servers: seen }: Reading,
  startedAt: number,
  catalog: DatedCatalog | null,
): Promise<Pick<SyncSuccess, 'unclaimed' | 'unclaimedMicros'>> {
  const known = new Set([...matched.values()].map(one => one.ref))
  // Some clouds tell whose a new server is only when it has been created.
  const others = seen.filter(one => !known.has(one.ref) && one.status !== 'provisioning')
  const ignored = new Set(account.ignoredRefs)
  const wanted = others.filter(one => !ignored.has(one.ref) && isWanted(account, one))
  let added = 0
  for (let at = 0; at < wanted.length; at += rowsPerBatch) {
    const batch = wanted.slice(at, at + rowsPerBatch)
    const n = await record(hub, tx => insertUnknown(tx, hub, account, batch, startedAt, catalog))
    added += n
    if (n < batch.length) break
  }
  const isAdded = new Set(wanted.slice(0, added))
  const rest = others.filter(one => !isAdded.has(one))
  const unclaimedMicros = rest.reduce((sum, one) => sum + (priceOfSeen(account, catalog, one)?.monthlyMicros ?? 0), 0)
  return { unclaimed: rest.length, unclaimedMicros }
}

function isWanted({ import: { mode, label_selector: selector } }: CloudAccountRow, seen: CloudServer): boolean {
  if (mode === 'none') return false
  return mode === 'all' || matchesSelector(parseSelector(selector!), seen.labels)
}

/** Inserts what a reading found, except servers that were deleted or removed here since it started. */
async function insertUnknown(
  tx: Tx,
  hub: Hub,
  read: CloudAccountRow,
  batch: readonly CloudServer[],
  startedAt: number,
  catalog: DatedCatalog | null,
): Promise<RecordResult<number>> {
  const { id } = read
  const [account] = await forUpdate(tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, id)))
  if (!account || !isSameAccess(account, read)) return { result: 0 }
  const deleted = await tx
    .select({ ref: servers.providerRef })
    .from(servers)
    .where(and(eq(servers.accountId, id), gte(servers.deletedAt, startedAt)))
  const gone = new Set([...account.ignoredRefs, ...deleted.map(one => one.ref)])
  const left = batch.filter(one => !gone.has(one.ref))
  const inserted = await insertFound(tx, hub, account, left, catalog)
  return { ...inserted, result: inserted.result + batch.length - left.length }
}

/** Inserts servers that exist at the cloud, as far as the plan allows. Returns how many. */
export async function insertFound(
  tx: Tx,
  hub: Hub,
  account: CloudAccountRow,
  batch: readonly CloudServer[],
  catalog: DatedCatalog | null,
): Promise<RecordResult<number>> {
  const { workspaceId } = account
  await lockLimit(tx, 'servers', workspaceId)
  const there = await tx
    .select({ id: servers.id, status: servers.status, ref: servers.providerRef, cloud: servers.cloud })
    .from(servers)
    .where(
      and(
        eq(servers.accountId, account.id),
        isNull(servers.deletedAt),
        inArray(
          servers.providerRef,
          batch.map(one => one.ref),
        ),
      ),
    )
  const absent = batch.filter(one => !there.some(row => row.ref === one.ref && !isAnother(row, one)))
  const max = (await limitsOf(tx, workspaceId)).servers
  const room = max === null ? absent.length : Math.max(0, max - (await countOf(tx, 'server', workspaceId)))
  const now = hub.clock.now()
  const done: Required<Pick<RecordResult<number>, 'audits' | 'events'>> = { audits: [], events: [] }
  const inserted: ServerRow[] = []
  for (const seen of absent.slice(0, room)) {
    const row = await insertRow(tx, { hub, workspaceId }, serverRows, {
      ...newColumns(now),
      id: newId('srv'),
      name: seen.name,
      labels: {},
      healthMonitorIds: [],
      notes: '',
      kind: seen.kind,
      origin: 'found',
      accountId: account.id,
      status: 'unknown',
      location: null,
      image: null,
      order: null,
      userDataSealed: null,
    })
    const columns = { ...seenColumns(seen), ...priceColumns(priceOfSeen(account, catalog, seen), catalog?.readAt ?? null) }
    const by = { source: 'cloud' as const, reason: `The cloud reports the status ${seen.status}.` }
    const written = await writeState(tx, hub, row, columns, { isCloudFresh: true, monitors: [] }, by)
    done.events.push(...written.events)
    done.audits.push(auditOf(written.row, null, followedView(written.row), 'It was found in the cloud account.'))
    inserted.push(written.row)
  }
  const followed = await followLabels(tx, workspaceId, inserted)
  return {
    result: Math.min(absent.length, room) + batch.length - absent.length,
    events: done.events,
    jobs: followed.jobs,
    audits: [...done.audits, ...followed.audits],
    notices: absent.length - room > account.unclaimed ? [limitNotice(account, absent.length - room, max!)] : [],
  }
}

const limitNotice = (account: CloudAccountRow, left: number, max: number): NoticeDraft => ({
  workspaceId: account.workspaceId,
  kind: 'cloud_account.servers_left_out',
  resource: { type: 'cloud_account', id: account.id, name: account.name },
  text: `${pluralize(left, 'servers')} of the cloud account ${account.name} could not be added: the plan allows ${pluralize(max, 'servers')}.`,
  details: { account_id: account.id, limit: 'servers', max },
  dedupKey: account.id,
})

const forgetKind = 'cloud.forget-states'

/** Marks the state of the servers of an account as unknown after its readings failed repeatedly. */
export const forgetStatesJob: JobKind<{ cloud_account_id: string }> = {
  kind: forgetKind,
  concurrency: 2,
  leaseMs: 5 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, { payload }) {
    const rows = await knownServers(hub, payload.cloud_account_id)
    const live = rows.filter(
      row => row.actionId === null && row.cloud !== null && !['unknown', 'missing', 'draft'].includes(row.status),
    )
    for (let at = 0; at < live.length; at += rowsPerBatch)
      await record(hub, tx => forgetBatch(tx, hub, live.slice(at, at + rowsPerBatch)))
    return undefined
  },
}

async function forgetBatch(tx: Tx, hub: Hub, batch: readonly ServerRow[]): Promise<RecordResult<undefined>> {
  const events: RecordResult<undefined>['events'] = []
  for (const { id } of batch.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const [row] = await forUpdate(tx.select().from(servers).where(eq(servers.id, id)))
    if (!row || row.actionId !== null) continue
    const [account] = await tx.select().from(cloudAccounts).where(eq(cloudAccounts.id, row.accountId!))
    if (!account || account.syncFailures < maxSyncFailures) continue
    const by = { source: 'cloud' as const, reason: 'The cloud account could not be read repeatedly.' }
    const written = await writeState(tx, hub, row, { status: 'unknown' }, await proofsOf(tx, row, account), by)
    events.push(...written.events)
  }
  return { result: undefined, events }
}
