import { forgetCertificates } from '../certificates/inventory'
import { isDeepStrictEqual } from 'node:util'
import { and, asc, count, eq, inArray, isNull, sql, sum } from 'drizzle-orm'
import { createAccount, deleteAccount, updateAccount } from '../../../adapters/accounts/accounts'
import {
  checkAccount,
  checkJob,
  checkJobFor,
  testAccountSettings,
  unchecked,
  type CheckedAccounts,
} from '../../../adapters/accounts/check'
import type { Consequences } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { inputColumns, patchColumns } from '../../../core/members'
import { isOrAre, pluralize } from '../../../core/pluralize'
import { conflict, invalid, permissionMissing } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import { onePage, type Page } from '../../../core/shapes'
import { removeMonitorsOf } from '../../monitors/of-servers'
import type { CloudFailure, CloudKind } from '../clouds/cloud'
import { InvalidSelector, parseSelector } from '../labels'
import { snapshots } from '../snapshots/tables'
import { servers } from '../tables'
import { volumes } from '../volumes/tables'
import { cloudAccountRows } from './open'
import {
  cloudAccountMembers,
  type CloudAccountCheckInput,
  type CloudAccountInput,
  type CloudAccountPatch,
  type CloudAccountView,
} from './shapes'
import { syncJobFor } from './sync-jobs'
import { cloudAccounts, cloudCatalogs } from './tables'
import { cloudAccountView, emptyTotals, type AccountTotals, type CloudAccountRow } from './view'

/** Columns of an account that was not read with its current settings. */
const unread = { ...unchecked, nextSyncAt: null, storageSyncedAt: null, syncFailures: 0, syncError: null, lacks: [] }

const accounts: CheckedAccounts<CloudAccountRow, CloudAccountView, CloudKind> = {
  ...cloudAccountRows,
  actions: {
    create: 'cloud.account.create',
    update: 'cloud.account.update',
    delete: 'cloud.account.delete',
    check: 'cloud.account.check',
    validate: 'cloud.account.validate',
    fail: 'cloud.account.fail',
    recover: 'cloud.account.recover',
  },
  checkKind: 'cloud.check-account',
  failingNotice: 'cloud_account.failing',
  reset: before => ({
    ...unread,
    ...(before === null && { syncedAt: null, rate: null, unclaimed: 0, unclaimedMicros: 0, ignoredRefs: [] }),
  }),
  view: row => cloudAccountView(row, emptyTotals),
  join: (kind, settings, context) => kind.join?.(settings, context) ?? Promise.resolve(null),
  check: (kind, settings, context) => kind.open(settings, context).check(),
  onOk: async (_, id) => [syncJobFor(id, 0)],
}

/** Lists the cloud accounts of the workspace on one page, by name. */
export async function listCloudAccounts(
  ctx: Ctx,
  { kind, state }: { kind?: string; state?: CloudAccountRow['state'] },
): Promise<Page<CloudAccountView>> {
  const rows = await ctx.hub.read
    .select()
    .from(cloudAccounts)
    .where(
      and(
        eq(cloudAccounts.workspaceId, ctx.workspaceId),
        kind === undefined ? undefined : eq(cloudAccounts.kind, kind),
        state === undefined ? undefined : eq(cloudAccounts.state, state),
      ),
    )
    .orderBy(asc(cloudAccounts.name))
  const visible = ctx.resourceIds === null ? rows : []
  const totals = await totalsOf(
    ctx.hub.read,
    visible.map(row => row.id),
  )
  return onePage(visible.map(row => cloudAccountView(row, totals.get(row.id) ?? emptyTotals)))
}

/** @throws Problem 404 */
export const getCloudAccount = async (ctx: Ctx, id: string): Promise<CloudAccountView> =>
  withTotals(ctx.hub.read, await accountOf(ctx, id))

/** @throws Problem 404 */
export const accountOf = (ctx: Ctx, id: string, read: Reader = ctx.hub.read): Promise<CloudAccountRow> =>
  findRow(read, ctx, accounts.rows, id)

const withTotals = async (read: Reader, row: CloudAccountRow): Promise<CloudAccountView> =>
  cloudAccountView(row, (await totalsOf(read, [row.id])).get(row.id) ?? emptyTotals)

/** The number of servers and their prices, by account. Drafts cost nothing. */
async function totalsOf(read: Reader, ids: readonly string[]): Promise<Map<string, AccountTotals>> {
  if (ids.length === 0) return new Map()
  const rows = await read
    .select({
      id: servers.accountId,
      servers: count(),
      unpriced: count(sql`case when ${servers.priceMicros} is null and ${servers.status} not in ('draft', 'missing') then 1 end`),
      micros: sql`coalesce(sum(${servers.priceMicros}), 0)`.mapWith(Number),
      currency: sql<string | null>`max(${servers.priceCurrency})`,
    })
    .from(servers)
    .where(and(inArray(servers.accountId, [...ids]), isNull(servers.deletedAt)))
    .groupBy(servers.accountId)
  const totals = new Map(rows.map(({ id, ...one }) => [id!, one]))
  for (const table of [volumes, snapshots]) {
    const stored = await read
      .select({ id: table.accountId, micros: sum(table.priceMicros).mapWith(Number) })
      .from(table)
      .where(inArray(table.accountId, [...ids]))
      .groupBy(table.accountId)
    for (const { id, micros } of stored) {
      const one = totals.get(id) ?? emptyTotals
      totals.set(id, { ...one, micros: one.micros + (micros ?? 0) })
    }
  }
  return totals
}

/**
 * Creates an account. It is checked in the background: it doesn't have to be reachable yet.
 * @throws Problem 403 without `account.write` if it sets spending limits, 422, 409 for a duplicate name or too many accounts
 */
export async function createCloudAccount(ctx: Ctx, input: CloudAccountInput): Promise<CloudAccountView> {
  if (input.spend) requireSpendAccess(ctx)
  validateMembers(input)
  return await createAccount(ctx, accounts, input, inputColumns(cloudAccountMembers, input), {
    jobs: row => [checkJobFor(accounts, row.id, row.createdAt)],
  })
}

/**
 * Updates an account, and checks it again if its settings changed. If it now points to another cloud, its catalog is forgotten.
 * @throws Problem 403 without `account.write` if it changes spending limits, 404, 409 for a duplicate name, 412, 422
 */
export async function updateCloudAccount(ctx: Ctx, id: string, patch: CloudAccountPatch): Promise<CloudAccountView> {
  if (patch.spend !== undefined) requireSpendAccess(ctx)
  validateMembers(patch)
  await updateAccount<CloudAccountRow, CloudAccountView>(
    ctx,
    accounts,
    id,
    patch,
    () => patchColumns(cloudAccountMembers, patch),
    {
      async done(tx, { destinationChanged, settingsChanged, before }, after) {
        if (destinationChanged) await tx.delete(cloudCatalogs).where(eq(cloudCatalogs.accountId, id))
        if (settingsChanged) return [checkJobFor(accounts, id, after.updatedAt)]
        return !isDeepStrictEqual(before.import, after.import) && after.nextSyncAt !== null ? [syncJobFor(id, 0)] : []
      },
    },
  )
  return await getCloudAccount(ctx, id)
}

/** Deletes an account, the servers that were found in it, and their monitors. Nothing changes at the cloud. @throws Problem 404, 409, 412 */
export const deleteCloudAccount = (ctx: Ctx, id: string): Promise<void> =>
  deleteAccount(ctx, accounts, id, tx => removeServers(tx, ctx, id))

/** @throws Problem 409 while it has servers that were created here */
async function removeServers(tx: Tx, { hub, workspaceId }: Ctx, id: string): Promise<Consequences> {
  const [made] = await tx
    .select({ n: count() })
    .from(servers)
    .where(and(eq(servers.accountId, id), eq(servers.origin, 'made'), isNull(servers.deletedAt)))
  if (made!.n > 0)
    throw conflict(
      `${pluralize(made!.n, 'servers')} of this account ${isOrAre(made!.n)} managed here. Delete them first, with \`at_provider=keep\` to keep them at the cloud.`,
    )
  // Locked in id order, to avoid deadlocks.
  const rows = await forUpdate(
    tx.select({ id: servers.id }).from(servers).where(eq(servers.accountId, id)).orderBy(asc(servers.id)),
  )
  const ids = rows.map(row => row.id)
  const removed = await removeMonitorsOf(tx, hub, workspaceId, ids)
  await forgetCertificates(tx, workspaceId, ids, hub.clock.now())
  await tx.delete(servers).where(eq(servers.accountId, id))
  return removed
}

/** Checks an account now. A failing check is a result, not an error of the request. @throws Problem 404, 409, 429 */
export async function checkCloudAccount(ctx: Ctx, id: string): Promise<CloudAccountView> {
  await checkAccount(ctx, accounts, id)
  return await getCloudAccount(ctx, id)
}

/** Tests settings without storing them. @throws Problem 422, 429 */
export const testCloudAccountSettings = (ctx: Ctx, input: CloudAccountCheckInput) =>
  testAccountSettings<CloudFailure>(ctx, accounts, input)

export const checkCloudAccountJob = checkJob(accounts)

/** A token that can only buy must not be able to raise its own limit. @throws Problem 403 */
function requireSpendAccess(ctx: Ctx): void {
  if (!ctx.permissions.has('account.write')) throw permissionMissing('account.write')
}

/** @throws Problem 422 */
function validateMembers(input: Pick<CloudAccountPatch, 'import' | 'spend'>): void {
  const { import: imported, spend } = input
  if (imported?.mode === 'selector' && imported.label_selector === null)
    throw invalid([{ pointer: '#/import/label_selector', code: 'required', detail: 'is required with the mode `selector`.' }])
  if (imported?.label_selector != null) validateSelector(imported.label_selector, '#/import/label_selector')
  if (spend?.monthly_cap != null && spend.currency === null)
    throw invalid([{ pointer: '#/spend/currency', code: 'required', detail: 'is required with `monthly_cap`.' }])
}

/** @throws Problem 422 at the pointer */
function validateSelector(text: string, pointer: string): void {
  try {
    parseSelector(text)
  } catch (error) {
    if (!(error instanceof InvalidSelector)) throw error
    throw invalid([{ pointer, code: 'format', detail: error.message }])
  }
}
