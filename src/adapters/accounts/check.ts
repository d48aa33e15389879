import { eq } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { suspendedRetryMs } from '../../access/suspension'
import { workspaces } from '../../access/tables'
import { refuseTooManyRequests } from '../../access/limiter'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change, jobContext, record, systemActor } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/draft'
import type { JobKind } from '../../core/jobs/job'
import type { NoticeDraft, NoticeKind } from '../../core/notices'
import { oneLine } from '../../core/one-line'
import { conflict } from '../../core/problem'
import { findRow } from '../../core/rows'
import { validateSettings, type Settings } from '../../core/sealed-settings'
import { DecryptionFailed } from '../../core/secrets'
import type { AccountCheck, AdapterKind } from '../adapter'
import type { AdapterContext } from '../context'
import { AdapterError } from '../failure'
import { currentRow, openAccountSettings, unsupportedKind, type Accounts } from './accounts'
import type { AccountRow, CheckedRow } from './columns'
import { adapterContextOf } from './context'
import { storeExchangedSettings } from './replaced-settings'

type AnyRow = CheckedRow<any>

/** Accounts that are checked on a schedule. */
export interface CheckedAccounts<R extends AnyRow = any, V extends object = any, K extends AdapterKind = any> extends Accounts<
  R,
  V,
  K
> {
  /** Such as `provider`. Names log fields and rate limits, and with `_id` the fields of jobs and notices. */
  name: string
  /** Kind of the job. */
  checkKind: string
  actions: Record<'create' | 'update' | 'delete' | 'check' | 'validate' | 'fail' | 'recover', AuditAction>
  failingNotice: NoticeKind
  /** Interval between checks of a working account; ten minutes by default. */
  checkEveryMs?: number
  /** Whether an account is checked; by default all are. */
  isChecked?(row: R): boolean
  /**
   * Exchanges what was entered for what is stored, such as a one-time token for a certificate. Called before each check, until it
   * returns null. What it returns is stored before it is called again.
   * @returns settings to replace; null removes one
   * @throws AdapterError
   */
  join?(kind: K, settings: Settings, context: AdapterContext): Promise<Settings | null>
  /** Checks that the system can be reached and accepts the credentials, without changing anything. @throws AdapterError */
  check(kind: K, settings: Settings, context: AdapterContext): Promise<AccountCheck & Pick<Found, 'columns'>>
  /** Jobs to run after a successful check. */
  onOk?(tx: Tx, id: string): Promise<JobDraft[]>
}

const defaultCheckEveryMs = 10 * 60_000
// Failing accounts are checked sooner at first, with a growing pause to avoid overloading the system.
const afterFailureMs = [1, 2, 5, 10, 20, 40, 60].map(minutes => minutes * 60_000)

/** Columns of an account whose current settings have not been checked. */
export const unchecked = {
  state: 'unknown',
  detail: null,
  warnings: [] as string[],
  consecutiveFailures: 0,
  lastError: null,
} as const

/** The API form of the last check. */
export const checkView = <F extends string>(row: CheckedRow<F>) => ({
  state: row.state,
  detail: row.detail,
  warnings: row.warnings,
  last_checked_at: instant(row.lastCheckedAt),
  last_ok_at: instant(row.lastOkAt),
  last_error: row.lastError,
})

/** The job that checks an account and schedules the next check. @param at ms UTC */
export const checkJobFor = (
  { name, checkKind }: Pick<CheckedAccounts, 'name' | 'checkKind'>,
  id: string,
  at: number,
): JobDraft => ({
  kind: checkKind,
  payload: { [`${name}_id`]: id },
  runAt: at,
  uniqueKey: id,
  replaces: true,
})

/**
 * Opens an account. Its connections follow the current network policy of the workspace.
 * @throws AdapterError `refused` for an unknown kind, DecryptionFailed
 */
export async function openAccount<K extends AdapterKind, T>(
  hub: Hub,
  accounts: Pick<CheckedAccounts<any, any, K>, 'rows' | 'name' | 'kindOf'>,
  row: Pick<AccountRow, 'id' | 'workspaceId' | 'kind' | 'settings' | 'secretsSealed'>,
  open: (kind: K, settings: Settings, context: AdapterContext) => T,
): Promise<Awaited<T>> {
  const kind = accounts.kindOf(row.kind)
  if (!kind) throw new AdapterError('refused', unsupportedKind(accounts, row.kind))
  const settings = await openAccountSettings(hub, accounts, row)
  return await open(kind, settings, await adapterContextOf(hub, row.workspaceId, { [accounts.name]: row.id }))
}

/** Checks an account, and schedules the next check. */
export const checkJob = <R extends AnyRow>(accounts: CheckedAccounts<R>): JobKind<Record<string, string>> => ({
  kind: accounts.checkKind,
  concurrency: 8,
  leaseMs: 5 * 60_000,
  retryAfter: attempts => Math.min(attempts, 10) * 60_000,
  async run(hub, job) {
    const { table } = accounts.rows
    const [found] = await hub.read
      .select({ account: table, suspendedAt: workspaces.suspendedAt })
      .from(table)
      .innerJoin(workspaces, eq(workspaces.id, table.workspaceId))
      .where(eq(table.id, job.payload[`${accounts.name}_id`]!))
    if (!found) return undefined
    const account = found.account as unknown as R
    if (accounts.isChecked?.(account) === false) return undefined
    if (found.suspendedAt !== null)
      return async () => ({ result: undefined, jobs: [checkJobFor(accounts, account.id, hub.clock.now() + suspendedRetryMs)] })
    const { row, outcome } = await checkNow(hub, accounts, account)
    return tx => storeScheduledCheck(tx, hub, accounts, row, outcome)
  },
})

/**
 * Checks an account now. A failing check is a result, not an error of the request. Limited to five a minute per account.
 * @throws Problem 404, 409, 429
 */
export async function checkAccount<R extends AnyRow, V extends object>(
  ctx: Ctx,
  accounts: CheckedAccounts<R, V>,
  id: string,
): Promise<V> {
  const { hub } = ctx
  const found: R = await findRow(hub.read, ctx, accounts.rows, id)
  refuseTooManyRequests(ctx, `${accounts.name}-checks`, id, 5)
  const { row: before, outcome } = await checkNow(hub, accounts, found)
  return await change(ctx, accounts.actions.check, async tx => {
    const written = await storeCheck(tx, hub, accounts, before, outcome)
    if (!written) throw conflict(`The ${accounts.name} was updated during the check. Check it again.`)
    const { row, nextAt } = written
    return {
      result: accounts.view(row),
      target: target(accounts.rows.type, row),
      ...statusChange(before, row),
      reason: row.lastError === null ? row.detail : `${row.lastError.code}: ${row.lastError.detail}`,
      jobs: [checkJobFor(accounts, id, nextAt), ...(row.state === 'ok' ? ((await accounts.onOk?.(tx, id)) ?? []) : [])],
      notices: startedFailing(before, row) ? [failingNotice(accounts, row)] : [],
    }
  })
}

/**
 * Tests settings without storing them. Limited to ten a minute per workspace.
 * @throws Problem 422, 429
 */
export async function testAccountSettings<F extends string>(
  ctx: Ctx,
  accounts: CheckedAccounts<CheckedRow<F>>,
  input: { kind: string; settings: Settings },
) {
  const kind = accounts.kindOf(input.kind)!
  const settings = validateSettings(kind, input.settings)
  refuseTooManyRequests(ctx, `${accounts.name}-tests`, ctx.workspaceId, 10)
  const context = await adapterContextOf(ctx.hub, ctx.workspaceId, { [accounts.name]: 'unsaved' })
  const { found, error } = await outcomeOf<F>(() => accounts.check(kind, settings, context))
  const result = found
    ? { state: 'ok' as const, ...found, error: null }
    : { state: 'failing' as const, detail: null, warnings: [], error }
  return await change(ctx, accounts.actions.validate, async () => ({ result, target: [], unchanged: true }))
}

/** What a check found. `columns`: what else is stored of it in the account. */
interface Found extends AccountCheck {
  columns?: object
}

type Outcome<F extends string> =
  | { found: AccountCheck; columns: object; error: null; retryAfterMs: null }
  | { found: null; error: { code: F; detail: string }; retryAfterMs: number | null }

/** Checks an account. Returns its row, which has new settings if they were exchanged. */
async function checkNow<R extends AnyRow>(
  hub: Hub,
  accounts: CheckedAccounts<R>,
  stored: R,
): Promise<{ row: R; outcome: Outcome<any> }> {
  let row = stored
  const outcome = await outcomeOf(async () => {
    row = await joined(hub, accounts, row)
    return await openAccount(hub, accounts, row, accounts.check)
  })
  return { row, outcome }
}

const maxJoinSteps = 4

/** Exchanges settings as `join` says. @throws AdapterError, DecryptionFailed */
async function joined<R extends AnyRow>(hub: Hub, accounts: CheckedAccounts<R>, stored: R): Promise<R> {
  let row = stored
  for (let step = 0; accounts.join && step < maxJoinSteps; step++) {
    const replaced = await openAccount(hub, accounts, row, accounts.join)
    if (replaced === null) return row
    const saved = await record(hub, tx => storeExchangedSettings(tx, hub, accounts, row, replaced))
    // Updated or deleted meanwhile: the check is not stored either.
    if (!saved) return row
    row = saved
  }
  return row
}

async function outcomeOf<F extends string>(check: () => Promise<Found>): Promise<Outcome<F>> {
  try {
    const { detail, warnings, columns } = await check()
    const found = { detail: oneLine(detail), warnings: warnings.map(one => oneLine(one)) }
    return { found, columns: columns ?? {}, error: null, retryAfterMs: null }
  } catch (error) {
    const failed = (code: string, detail: string, retryAfterMs: number | null) => ({
      found: null,
      error: { code: code as F, detail },
      retryAfterMs,
    })
    if (error instanceof AdapterError) return failed(error.failure, error.message, error.retryAfterMs)
    if (error instanceof DecryptionFailed)
      return failed('unauthorized', 'The stored secrets can’t be decrypted with the available keys.', null)
    throw error
  }
}

/** Stores the result of a scheduled check, with an audit event if the state changed. */
async function storeScheduledCheck<R extends AnyRow>(
  tx: Tx,
  hub: Hub,
  accounts: CheckedAccounts<R>,
  before: R,
  outcome: Outcome<any>,
): Promise<RecordResult<undefined>> {
  const written = await storeCheck(tx, hub, accounts, before, outcome)
  // Updated meanwhile, so it needs another check. If it was deleted, that job does nothing.
  if (!written) return { result: undefined, jobs: [checkJobFor(accounts, before.id, hub.clock.now())] }
  const { row, nextAt } = written
  const isOkAgain = row.state === 'ok' && before.state !== 'ok'
  const jobs = [checkJobFor(accounts, row.id, nextAt), ...(isOkAgain ? ((await accounts.onOk?.(tx, row.id)) ?? []) : [])]
  const recovered = row.state === 'ok' && before.state === 'failing'
  if (!startedFailing(before, row) && !recovered) return { result: undefined, jobs }
  return {
    result: undefined,
    jobs,
    notices: recovered ? [] : [failingNotice(accounts, row)],
    audits: [
      {
        workspaceId: row.workspaceId,
        action: recovered ? accounts.actions.recover : accounts.actions.fail,
        actor: systemActor(accounts.checkKind),
        context: jobContext,
        targets: [target(accounts.rows.type, row)],
        ...statusChange(before, row),
      },
    ],
  }
}

const statusChange = (before: AnyRow, after: AnyRow) => ({
  before: { state: before.state, last_error: before.lastError },
  after: { state: after.state, last_error: after.lastError },
})

const startedFailing = (before: AnyRow, row: AnyRow): boolean => row.state === 'failing' && before.state !== 'failing'

const failingNotice = ({ rows, name, failingNotice }: CheckedAccounts, row: AnyRow): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: failingNotice,
  resource: target(rows.type, row),
  text: `The ${rows.name} ${row.name} is failing: ${row.lastError!.detail}`,
  details: { [`${name}_id`]: row.id, failure: row.lastError!.code },
  dedupKey: row.id,
})

/** Stores the result of a check; null if the account was deleted or updated meanwhile. */
async function storeCheck<R extends AnyRow>(
  tx: Tx,
  hub: Hub,
  accounts: CheckedAccounts<R>,
  before: R,
  outcome: Outcome<any>,
): Promise<{ row: R; nextAt: number } | null> {
  const { found, error, retryAfterMs } = outcome
  const current = await currentRow(tx, accounts, before.id)
  if (current?.version !== before.version) return null
  const now = hub.clock.now()
  const consecutiveFailures = found ? 0 : current.consecutiveFailures + 1
  const status = outcome.found ? { state: 'ok', ...outcome.found, ...outcome.columns, lastOkAt: now } : { state: 'failing' }
  const table: SQLiteTable & { id: SQLiteColumn } = accounts.rows.table
  const [row] = await tx
    .update(table)
    .set({ lastCheckedAt: now, consecutiveFailures, lastError: error, ...status } as object)
    .where(eq(table.id, before.id))
    .returning()
  const pauseMs = found
    ? (accounts.checkEveryMs ?? defaultCheckEveryMs)
    : afterFailureMs[Math.min(consecutiveFailures, afterFailureMs.length) - 1]!
  return { row: row as R, nextAt: now + Math.max(pauseMs, retryAfterMs ?? 0) }
}
