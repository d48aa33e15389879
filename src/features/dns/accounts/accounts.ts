import { asc, count, eq } from 'drizzle-orm'
import { createAccount, deleteAccount, updateAccount } from '../../../adapters/accounts/accounts'
import {
  checkAccount,
  checkJob,
  checkJobFor,
  testAccountSettings,
  unchecked,
  type CheckedAccounts,
} from '../../../adapters/accounts/check'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { isOrAre, pluralize } from '../../../core/pluralize'
import { conflict } from '../../../core/problem'
import { findRow } from '../../../core/rows'
import { onePage, type Page } from '../../../core/shapes'
import { providerAccounts } from './open'
import type { DnsProviderCheckInput, DnsProviderCheckResult, DnsProviderInput, DnsProviderPatch, DnsProviderView } from './shapes'
import { dnsProviders } from './tables'
import { providerView, type ProviderRow } from './view'
import { getBuiltinProvider } from '../transfers/builtin'
import type { ProviderFailure, ProviderKind } from '../providers/provider'
import { resetTargets } from '../targets/new-target'
import { retryFailingTargets } from '../sync/retry-targets'
import { dnsZoneTargets } from '../targets/tables'
import { builtin } from '../zones/shapes'

/** The external providers. The built-in one is not stored. */
const accounts: CheckedAccounts<ProviderRow, DnsProviderView, ProviderKind> = {
  ...providerAccounts,
  actions: {
    create: 'dns.provider.create',
    update: 'dns.provider.update',
    delete: 'dns.provider.delete',
    check: 'dns.provider.check',
    validate: 'dns.provider.validate',
    fail: 'dns.provider.fail',
    recover: 'dns.provider.recover',
  },
  checkKind: 'dns.check-provider',
  failingNotice: 'dns_provider.failing',
  reset: () => unchecked,
  view: providerView,
  check: (kind, settings, context) => kind.open(settings, context).check(),
  onOk: retryFailingTargets,
}

/** Lists all providers of the workspace on one page, the built-in one first, then by name. */
export async function listProviders(
  ctx: Ctx,
  { kind, state }: { kind?: string; state?: ProviderRow['state'] },
): Promise<Page<DnsProviderView>> {
  const rows = await ctx.hub.read
    .select()
    .from(dnsProviders)
    .where(eq(dnsProviders.workspaceId, ctx.workspaceId))
    .orderBy(asc(dnsProviders.name))
  const all = [await getBuiltinProvider(ctx), ...rows.map(providerView)]
  return onePage(all.filter(one => (kind ?? one.kind) === one.kind && (state ?? one.state) === one.state))
}

/** @throws Problem 404 */
export const getProvider = async (ctx: Ctx, id: string): Promise<DnsProviderView> => providerView(await providerOf(ctx, id))

/** @throws Problem 404 */
export const providerOf = (ctx: Ctx, id: string): Promise<ProviderRow> => findRow(ctx.hub.read, ctx, accounts.rows, id)

/**
 * Creates a provider. It is checked in the background: it doesn't have to be reachable yet.
 * @throws Problem 422, 409 for a duplicate name or too many providers
 */
export const createProvider = (ctx: Ctx, input: DnsProviderInput): Promise<DnsProviderView> =>
  createAccount(ctx, accounts, input, {}, { jobs: row => [checkJobFor(accounts, row.id, row.createdAt)] })

/**
 * Updates a provider, and checks it again if its settings changed. If it now points to another server, the states of its zones
 * are reset.
 * @throws Problem 404, 409 for a duplicate name, 412, 422
 */
export async function updateProvider(ctx: Ctx, id: string, patch: DnsProviderPatch): Promise<DnsProviderView> {
  refuseBuiltin(id)
  return await updateAccount(ctx, accounts, id, patch, () => ({}), {
    async done(tx, { destinationChanged, settingsChanged }, { updatedAt }) {
      if (destinationChanged) await resetTargets(tx, id, updatedAt)
      return settingsChanged ? [checkJobFor(accounts, id, updatedAt)] : []
    },
  })
}

/** Deletes a provider. Its zones there stay. @throws Problem 404, 409 while zones are synced to it, 412 */
export async function deleteProvider(ctx: Ctx, id: string): Promise<void> {
  refuseBuiltin(id)
  await deleteAccount(ctx, accounts, id, tx => refuseInUse(tx, id))
}

/** Checks a provider now. A failing check is a result, not an error of the request. @throws Problem 404, 409, 429 */
export async function checkProvider(ctx: Ctx, id: string): Promise<DnsProviderView> {
  refuseBuiltin(id)
  return await checkAccount(ctx, accounts, id)
}

/** Tests provider settings without storing them. @throws Problem 422, 429 */
export const testProviderSettings = (ctx: Ctx, input: DnsProviderCheckInput): Promise<DnsProviderCheckResult> =>
  testAccountSettings<ProviderFailure>(ctx, accounts, input)

export const checkProviderJob = checkJob(accounts)

/** @throws Problem 409 */
export function refuseBuiltin(id: string): void {
  if (id === builtin) throw conflict('The built-in name server is always available and can’t be changed this way.')
}

/** @throws Problem 409 */
async function refuseInUse(tx: Tx, id: string): Promise<void> {
  const [row] = await tx.select({ n: count() }).from(dnsZoneTargets).where(eq(dnsZoneTargets.providerId, id))
  if (row!.n > 0)
    throw conflict(
      `${pluralize(row!.n, 'zones')} ${isOrAre(row!.n)} synced to this provider. Remove it from their sync targets first.`,
    )
}
