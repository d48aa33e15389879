import { isDeepStrictEqual } from 'node:util'
import { and, eq, inArray } from 'drizzle-orm'
import { suspendedRetryMs } from '../../access/suspension'
import { workspaces } from '../../access/tables'
import { checkJobFor } from '../../adapters/accounts/check'
import { AdapterError } from '../../adapters/failure'
import { record } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import { sequentialLanes } from '../../core/jobs/lanes'
import { moneyView, parseMoney } from '../../core/money'
import type { NoticeDraft } from '../../core/notices'
import { pluralize } from '../../core/pluralize'
import { targetOf } from '../../core/rows'
import { DecryptionFailed } from '../../core/secrets'
import { yieldToEventLoop } from '../../core/time-slices'
import {
  followAccount,
  missFromAccount,
  renewalsUntil,
  trackedNames,
  trackHeld,
  type AccountFacts,
} from '../domains/account-domains'
import { supportedNames } from '../registry/known'
import { registrarKindOf } from './kinds'
import { registrarAccountRows, withRegistrar } from './open'
import { readAccount } from './read-account'
import type { Held, RegistrarFailure } from './registrar'
import { syncJobFor, syncKind } from '../domains/sync-account-job'
import { registrarAccountNames, registrarAccounts } from './tables'
import type { RegistrarAccountRow } from './view'

const hourMs = 3_600_000
const everyMs = 6 * hourMs
const firstRetryMs = 5 * 60_000
/** A list that stays this long at under half of the domains is believed. */
const shrunkMs = 72 * hourMs
/** How far ahead the credit of an account must suffice for renewals. */
const renewalsMs = 30 * 24 * hourMs
// Keeps transactions short: each blocks all other writes of the process.
const namesPerBatch = 50

/** Reads the domains of an account, takes over what changed there, and schedules the next reading. */
export const syncRegistrarAccountJob: JobKind<{ registrar_account_id: string }> = {
  kind: syncKind,
  concurrency: 4,
  lanes: sequentialLanes,
  leaseMs: 15 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, { payload }) {
    const [found] = await hub.read
      .select({ account: registrarAccounts, suspendedAt: workspaces.suspendedAt })
      .from(registrarAccounts)
      .innerJoin(workspaces, eq(workspaces.id, registrarAccounts.workspaceId))
      .where(eq(registrarAccounts.id, payload.registrar_account_id))
    if (!found) return undefined
    const { account } = found
    // Stopped, because its credentials were rejected. The next successful check starts it again.
    if (account.nextSyncAt === null && account.state !== 'ok') return undefined
    if (found.suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [syncJobFor(account.id, hub.clock.now() + suspendedRetryMs)] })
    const outcome = await syncAccount(hub, account)
    return tx => finishSync(tx, hub, account, outcome)
  },
}

interface SyncSuccess {
  startedAt: number
  /** Domains in the list. */
  listed: number
  added: number
  /** Domains that the plan doesn’t allow. */
  leftOut: number
  /** Whether the list is too short to believe that the others are gone. */
  isShrunk: boolean
  error: null
}
type SyncOutcome = SyncSuccess | { error: { code: RegistrarFailure; detail: string }; retryAfterMs: number | null }

/** Reads an account, and writes what changed. A reading that failed changes no domain. */
export async function syncAccount(hub: Hub, account: RegistrarAccountRow): Promise<SyncOutcome> {
  const startedAt = hub.clock.now()
  try {
    const held = await withRegistrar(hub, account, false, registrar => readAccount(registrar, hub.clock))
    const isShort = held.length * 2 < account.listedCount
    const isShrunk = isShort && startedAt - (account.shrunkSince ?? startedAt) < shrunkMs
    const counts = await follow(hub, account, held, startedAt)
    if (!isShrunk) await followMissing(hub, account, held)
    return { startedAt, listed: held.length, ...counts, isShrunk, error: null }
  } catch (error) {
    if (error instanceof AdapterError)
      return { error: { code: error.failure as RegistrarFailure, detail: error.message }, retryAfterMs: error.retryAfterMs }
    if (error instanceof DecryptionFailed)
      return {
        error: { code: 'unauthorized', detail: 'The stored secrets can’t be decrypted with the available keys.' },
        retryAfterMs: null,
      }
    throw error
  }
}

/** Applies what the list says about tracked domains, and adds new ones. */
async function follow(
  hub: Hub,
  account: RegistrarAccountRow,
  held: readonly Held[],
  at: number,
): Promise<{ added: number; leftOut: number }> {
  const isSupported = await supportedNames(hub)
  const all = registrarKindOf(account.kind)!.caps.capabilities
  let [added, leftOut] = [0, 0]
  for (let from = 0; from < held.length; from += namesPerBatch) {
    const batch = new Map(held.slice(from, from + namesPerBatch).map(one => [one.name, factsOf(one, all)]))
    const done = await record(hub, async (tx): Promise<RecordResult<{ added: string[]; left: string[] } | null>> => {
      if (!(await isCurrent(tx, account))) return { result: null }
      const { untracked, events } = await followAccount(tx, hub, account, batch, at, isSupported)
      const wanted = account.manageNew === 'track' ? await neverAdded(tx, account.id, untracked) : []
      if (wanted.length === 0) return { result: { added: [], left: [] }, events }
      const tracked = await trackHeld(tx, hub, account, wanted, syncKind)
      const own = new Map(tracked.added.map(name => [name, batch.get(name)!]))
      const followed = await followAccount(tx, hub, account, own, at, isSupported)
      if (tracked.added.length > 0)
        await tx.insert(registrarAccountNames).values(tracked.added.map(name => ({ accountId: account.id, name })))
      return { result: tracked, events: [...events, ...followed.events], audits: tracked.audits }
    })
    // It was deleted, or has other settings.
    if (done === null) break
    added += done.added.length
    leftOut += done.left.length
    await yieldToEventLoop()
  }
  return { added, leftOut }
}

/** Names that were not added before: those that were removed here stay removed. */
async function neverAdded(tx: Tx, accountId: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const { name } = registrarAccountNames
  const rows = await tx
    .select({ name })
    .from(registrarAccountNames)
    .where(and(eq(registrarAccountNames.accountId, accountId), inArray(name, [...names])))
  const known = new Set(rows.map(row => row.name))
  return names.filter(one => !known.has(one))
}

/** Notes which domains of the account are no longer in its list. */
async function followMissing(hub: Hub, account: RegistrarAccountRow, held: readonly Held[]): Promise<void> {
  const isSupported = await supportedNames(hub)
  const there = new Set(held.map(one => one.name))
  const ianaIds = registrarKindOf(account.kind)!.ianaIds ?? []
  for (let after: string | null = null; ;) {
    const names: string[] = await trackedNames(hub.read, account.id, after, namesPerBatch)
    const missing = names.filter(name => !there.has(name))
    if (missing.length > 0)
      await record(hub, async (tx): Promise<RecordResult<undefined>> => {
        if (!(await isCurrent(tx, account))) return { result: undefined }
        const { left, events } = await missFromAccount(tx, hub, account, missing, ianaIds, isSupported)
        if (left.length > 0)
          await tx
            .delete(registrarAccountNames)
            .where(and(eq(registrarAccountNames.accountId, account.id), inArray(registrarAccountNames.name, left)))
        return { result: undefined, events }
      })
    if (names.length < namesPerBatch) return
    after = names.at(-1)!
    await yieldToEventLoop()
  }
}

/** What the list says about a domain, in the form of the domains feature. */
const factsOf = (held: Held, all: Held['capabilities']): AccountFacts => ({
  status: held.status === 'unknown' ? null : held.status,
  expires_at: held.expiresAt,
  registrar_expires_at: null,
  statuses: held.eppStatuses,
  registered_at: held.registeredAt,
  registrar: null,
  nameservers: held.nameservers,
  auto_renew: held.autoRenew,
  locked: held.locked,
  privacy: held.privacy,
  ds:
    held.ds?.map(one => ({ key_tag: one.keyTag, algorithm: one.algorithm, digest_type: one.digestType, digest: one.digest })) ??
    null,
  glue: held.glue,
  renewal_price: moneyView(held.renewalPrice),
  capabilities: [...(held.capabilities ?? all ?? [])],
})

/** Whether an account still has the settings with which it was read. Locks it. */
async function isCurrent(tx: Tx, read: RegistrarAccountRow): Promise<boolean> {
  const [now] = await forUpdate(tx.select().from(registrarAccounts).where(eq(registrarAccounts.id, read.id)))
  return now !== undefined && isSameAccess(now, read)
}

const isSameAccess = (one: RegistrarAccountRow, other: RegistrarAccountRow): boolean =>
  one.secretsSealed === other.secretsSealed && isDeepStrictEqual(one.settings, other.settings)

/** Stores when the account was read, and when it is read next. A rejected credential stops the readings until a check succeeds. */
export async function finishSync(
  tx: Tx,
  hub: Hub,
  read: RegistrarAccountRow,
  outcome: SyncOutcome,
): Promise<RecordResult<undefined>> {
  const { id } = read
  const [account] = await forUpdate(tx.select().from(registrarAccounts).where(eq(registrarAccounts.id, id)))
  if (!account) return { result: undefined }
  const now = hub.clock.now()
  // Its settings changed, or were encrypted with another key. It is read again with them, once they have been checked.
  if (!isSameAccess(account, read)) return { result: undefined, jobs: [syncJobFor(id, now)] }
  const failures = outcome.error ? account.syncFailures + 1 : 0
  const retryMs = Math.min(firstRetryMs * 2 ** Math.min(failures - 1, 10), everyMs)
  if (outcome.error) {
    const isStopped = outcome.error.code === 'unauthorized'
    const nextAt = now + Math.max(retryMs, outcome.retryAfterMs ?? 0)
    await tx
      .update(registrarAccounts)
      .set({
        syncFailures: failures,
        syncError: outcome.error,
        nextSyncAt: isStopped ? null : nextAt,
        // The next successful check starts the readings again.
        ...(isStopped && account.state === 'ok' && { state: 'unknown' as const }),
      })
      .where(eq(registrarAccounts.id, id))
    const check = { name: registrarAccountRows.name, checkKind: 'registrars.check' }
    return { result: undefined, jobs: [isStopped ? checkJobFor(check, id, nextAt) : syncJobFor(id, nextAt)] }
  }
  const nextSyncAt = now + Math.round(everyMs * (0.9 + 0.2 * Math.random()))
  const isLow = await isBalanceLow(tx, account, now)
  await tx
    .update(registrarAccounts)
    .set({
      ...{ syncFailures: 0, syncError: null, lastSyncAt: outcome.startedAt, nextSyncAt, isBalanceLow: isLow },
      ...(outcome.isShrunk
        ? { shrunkSince: account.shrunkSince ?? outcome.startedAt }
        : { shrunkSince: null, listedCount: outcome.listed, leftOutCount: outcome.leftOut }),
    })
    .where(eq(registrarAccounts.id, id))
  return {
    result: undefined,
    jobs: [syncJobFor(id, nextSyncAt)],
    notices: [
      ...(outcome.isShrunk && account.shrunkSince === null ? [shrunkNotice(account, outcome.listed)] : []),
      ...(outcome.leftOut > account.leftOutCount ? [leftOutNotice(account, outcome.leftOut)] : []),
      ...(isLow && !account.isBalanceLow ? [lowBalanceNotice(account)] : []),
    ],
  }
}

/** Whether the credit does not suffice for the renewals of the next 30 days, as far as their prices are known. */
async function isBalanceLow(tx: Tx, { id, balance }: RegistrarAccountRow, now: number): Promise<boolean> {
  if (balance === null) return false
  const prices = await renewalsUntil(tx, id, now + renewalsMs)
  const known = prices.flatMap(one => (one ? (parseMoney(one.amount, one.currency) ?? []) : []))
  const sum = known.reduce((total, one) => total + (one.currency === balance.currency ? one.minor : 0), 0)
  return prices.length > 0 && balance.minor < Math.max(sum, 1)
}

const noticeOf = (account: RegistrarAccountRow): Pick<NoticeDraft, 'workspaceId' | 'resource' | 'dedupKey'> => ({
  workspaceId: account.workspaceId,
  resource: targetOf(registrarAccountRows.rows, account),
  dedupKey: account.id,
})

const shrunkNotice = (account: RegistrarAccountRow, listed: number): NoticeDraft => ({
  ...noticeOf(account),
  kind: 'registrar_account.shrunk',
  text: `The registrar account ${account.name} lists ${pluralize(listed, 'domains')}, after ${account.listedCount}. The missing domains are not considered gone unless this lasts for three days.`,
  details: { registrar_account_id: account.id, listed, before: account.listedCount },
})

const leftOutNotice = (account: RegistrarAccountRow, left: number): NoticeDraft => ({
  ...noticeOf(account),
  kind: 'registrar_account.domains_left_out',
  text: `${pluralize(left, 'domains')} of the registrar account ${account.name} could not be added: the plan doesn’t allow more.`,
  details: { registrar_account_id: account.id, limit: 'domains', left_out: left },
})

const lowBalanceNotice = (account: RegistrarAccountRow): NoticeDraft => ({
  ...noticeOf(account),
  kind: 'registrar_account.low_balance',
  text: `The credit of the registrar account ${account.name} does not suffice for the domains that renew automatically within 30 days.`,
  details: { registrar_account_id: account.id, balance: moneyView(account.balance) },
})
