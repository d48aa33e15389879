import { and, asc, eq } from 'drizzle-orm'
import { createAccount, deleteAccount, updateAccount } from '../../adapters/accounts/accounts'
import {
  checkAccount,
  checkJob,
  checkJobFor,
  testAccountSettings,
  unchecked,
  type CheckedAccounts,
} from '../../adapters/accounts/check'
import type { Ctx } from '../../core/ctx'
import { inputColumns, patchColumns } from '../../core/members'
import { findRow } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
import { releaseAccount } from '../domains/account-domains'
import { registrarKindOf } from './kinds'
import { registrarAccountRows } from './open'
import { limitColumns, requireCurrency, requirePurchasesAccess } from './purchases'
import type { RegistrarFailure, RegistrarKind } from './registrar'
import {
  registrarAccountMembers,
  type RegistrarAccountCheckInput,
  type RegistrarAccountInput,
  type RegistrarAccountPatch,
  type RegistrarAccountView,
} from './shapes'
import { syncJobFor } from '../domains/sync-account-job'
import { registrarAccounts } from './tables'
import { currencyOf, registrarAccountView, type RegistrarAccountRow } from './view'

const accounts: CheckedAccounts<RegistrarAccountRow, RegistrarAccountView, RegistrarKind> = {
  ...registrarAccountRows,
  actions: {
    create: 'domains.registrar.create',
    update: 'domains.registrar.update',
    delete: 'domains.registrar.delete',
    check: 'domains.registrar.check',
    validate: 'domains.registrar.validate',
    fail: 'domains.registrar.fail',
    recover: 'domains.registrar.recover',
  },
  checkKind: 'registrars.check',
  failingNotice: 'registrar_account.failing',
  // Registrars allow few requests.
  checkEveryMs: 3_600_000,
  reset: before => ({
    ...{ ...unchecked, currency: null, balance: null, nextSyncAt: null, syncFailures: 0, syncError: null },
    // Other settings can be those of another account.
    ...{ listedCount: 0, shrunkSince: null, leftOutCount: 0, isBalanceLow: false },
    ...(before === null && { monthlyLimit: null, orderLimit: null, lastSyncAt: null }),
  }),
  view: registrarAccountView,
  onOk: async (_, id) => [syncJobFor(id, 0)],
  async check(kind, settings, context) {
    const registrar = kind.open(settings, context)
    try {
      const { detail, warnings, currency, balance } = await registrar.check()
      return { detail, warnings, columns: { currency, balance } }
    } finally {
      await registrar.close?.()
    }
  },
}

/** Lists the registrar accounts of the workspace on one page, by name. */
export async function listRegistrarAccounts(
  ctx: Ctx,
  { kind, state }: { kind?: string; state?: RegistrarAccountRow['state'] },
): Promise<Page<RegistrarAccountView>> {
  const rows = await ctx.hub.read
    .select()
    .from(registrarAccounts)
    .where(
      and(
        eq(registrarAccounts.workspaceId, ctx.workspaceId),
        kind === undefined ? undefined : eq(registrarAccounts.kind, kind),
        state === undefined ? undefined : eq(registrarAccounts.state, state),
      ),
    )
    .orderBy(asc(registrarAccounts.name))
  // Hidden from tokens that are limited to other resources.
  return onePage((ctx.resourceIds === null ? rows : []).map(registrarAccountView))
}

/** @throws Problem 404 */
export const getRegistrarAccount = async (ctx: Ctx, id: string): Promise<RegistrarAccountView> =>
  registrarAccountView(await registrarAccountOf(ctx, id))

/** @throws Problem 404 */
export const registrarAccountOf = (ctx: Ctx, id: string): Promise<RegistrarAccountRow> =>
  findRow(ctx.hub.read, ctx, accounts.rows, id)

/**
 * Creates an account. It is checked in the background: it doesn't have to be reachable yet.
 * @throws Problem 403 without `account.write` if it sets limits of purchases, 422, 409 for a duplicate name or too many accounts
 */
export async function createRegistrarAccount(ctx: Ctx, input: RegistrarAccountInput): Promise<RegistrarAccountView> {
  if (input.purchases) requirePurchasesAccess(ctx)
  const limits = limitColumns(input.purchases ?? {})
  requireCurrency(limits, registrarKindOf(input.kind)?.caps.currency ?? null)
  const columns = { ...inputColumns(registrarAccountMembers, input), ...limits }
  return await createAccount(ctx, accounts, input, columns, {
    jobs: row => [checkJobFor(accounts, row.id, row.createdAt)],
  })
}

/**
 * Updates an account, and checks it again if its settings changed.
 * @throws Problem 403 without `account.write` if it changes limits of purchases, 404, 409 for a duplicate name, 412, 422
 */
export async function updateRegistrarAccount(ctx: Ctx, id: string, patch: RegistrarAccountPatch): Promise<RegistrarAccountView> {
  if (patch.purchases) requirePurchasesAccess(ctx)
  const limits = limitColumns(patch.purchases ?? {})
  const columns = { ...patchColumns(registrarAccountMembers, patch), ...limits }
  return await updateAccount(ctx, accounts, id, patch, () => columns, {
    async vet(_, { before }) {
      if (patch.purchases) requireCurrency({ ...before, ...limits }, currencyOf(before))
    },
    async done(_, { settingsChanged, before }, after) {
      const { updatedAt } = after
      if (settingsChanged) return [checkJobFor(accounts, id, updatedAt)]
      return before.manageNew !== after.manageNew && after.nextSyncAt !== null ? [syncJobFor(id, 0)] : []
    },
  })
}

/** Deletes an account and its secrets. Its domains stay, and nothing changes at the registrar. @throws Problem 404, 412 */
export const deleteRegistrarAccount = (ctx: Ctx, id: string): Promise<void> =>
  deleteAccount(ctx, accounts, id, tx => releaseAccount(tx, id, ctx.hub.clock.now()))

/** Checks an account now. A failing check is a result, not an error of the request. @throws Problem 404, 409, 429 */
export const checkRegistrarAccount = (ctx: Ctx, id: string): Promise<RegistrarAccountView> => checkAccount(ctx, accounts, id)

/** Tests settings without storing them. @throws Problem 422, 429 */
export const testRegistrarAccountSettings = (ctx: Ctx, input: RegistrarAccountCheckInput) =>
  testAccountSettings<RegistrarFailure>(ctx, accounts, input)

export const checkRegistrarAccountJob = checkJob(accounts)
