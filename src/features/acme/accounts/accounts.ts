import { and, asc, count, eq, gt, isNull, or } from 'drizzle-orm'
import { refuseTooManyRequests } from '../../../access/limiter'
import { refuseOverLimit } from '../../../access/plans'
import {
  accountView,
  createAccount,
  deleteAccount,
  openAccountSettings,
  updateAccount,
} from '../../../adapters/accounts/accounts'
import { checkAccount, checkJob, checkJobFor, checkView, unchecked, type CheckedAccounts } from '../../../adapters/accounts/check'
import { adapterContextOf } from '../../../adapters/accounts/context'
import { refuseOwnAddress } from '../../../adapters/accounts/destinations'
import type { AdapterContext } from '../../../adapters/context'
import { AdapterError } from '../../../adapters/failure'
import { change, record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'

import { requireMatch } from '../../../core/if-match'
import { editableView } from '../../../core/members'
import { areCertificates, certificatesIn } from '../../../core/net/pem'
import { pluralize } from '../../../core/pluralize'
import { conflict, invalid, Problem } from '../../../core/problem'
import { changedRow, findRow, lockRow, nameTaken, saveRow } from '../../../core/rows'
import { onePage, type Page } from '../../../core/shapes'
import { createPrivateKey } from '../../../core/x509/private-key'
import { rowsOf } from '../../../registry'
import { AcmeError } from '../client/acme-error'
import { readDirectory, withAcme, type AcmeAccess } from '../client/session'
import { refusePrivateKey } from '../keys'
import { managedCertificates } from '../managed-certificates/tables'
import { acmeDirectories } from './directories'
import { accessOf, acmeKind, checkAcmeAccount, type AcmeSettings } from './kind'
import type { AcmeAccountInput, AcmeAccountPatch, AcmeAccountView, AcmeDirectoryView } from './shapes'
import { acmeAccounts } from './tables'

export type AcmeAccountRow = typeof acmeAccounts.$inferSelect

const dayMs = 24 * 3_600_000

const accounts: CheckedAccounts<AcmeAccountRow, AcmeAccountView> = {
  rows: rowsOf('acme_account', acmeAccounts),
  name: 'acme_account',
  kindOf: () => acmeKind,
  actions: {
    create: 'certificates.acme_account.create',
    update: 'certificates.acme_account.update',
    delete: 'certificates.acme_account.delete',
    check: 'certificates.acme_account.check',
    validate: 'certificates.acme_account.check',
    fail: 'certificates.acme_account.fail',
    recover: 'certificates.acme_account.recover',
  },
  checkKind: 'certificates.check-acme-account',
  checkEveryMs: dayMs,
  isChecked: row => row.status === 'valid',
  failingNotice: 'acme_account.failing',
  reset: () => ({ ...unchecked }),
  view,
  check: (_, settings, context) => checkAcmeAccount(settings as AcmeSettings, context),
}

/** Lists common certificate authorities with ACME on one page. */
export const listAcmeDirectories = (): Page<AcmeDirectoryView> => onePage([...acmeDirectories])

/** Lists the ACME accounts of the workspace on one page, by name. */
export async function listAcmeAccounts(
  ctx: Ctx,
  { state, status }: { state?: AcmeAccountRow['state']; status?: AcmeAccountRow['status'] },
): Promise<Page<AcmeAccountView>> {
  const rows = await ctx.hub.read
    .select()
    .from(acmeAccounts)
    .where(
      and(
        eq(acmeAccounts.workspaceId, ctx.workspaceId),
        state === undefined ? undefined : eq(acmeAccounts.state, state),
        status === undefined ? undefined : eq(acmeAccounts.status, status),
      ),
    )
    .orderBy(asc(acmeAccounts.name))
  return onePage((ctx.resourceIds === null ? rows : []).map(view))
}

/** @throws Problem 404 */
export const getAcmeAccount = async (ctx: Ctx, id: string): Promise<AcmeAccountView> => view(await acmeAccountOf(ctx, id))

/** @throws Problem 404 */
export const acmeAccountOf = (ctx: Ctx, id: string): Promise<AcmeAccountRow> => findRow(ctx.hub.read, ctx, accounts.rows, id)

/**
 * Registers an account at a certificate authority, with a new key, and stores it. Limited to ten a minute per workspace.
 * @throws Problem 409 for a duplicate name or too many accounts, 422, 424 `provider_failed`, 429
 */
export async function createAcmeAccount(ctx: Ctx, input: AcmeAccountInput): Promise<AcmeAccountView> {
  const { directory_url, contact_email = null, eab = null, key_type = 'ec-256' } = input
  const ca_pem = checkedCertificates(input.ca_pem)
  await refuseOwnAddress(ctx, { directory_url })
  refuseTooManyRequests(ctx, 'acme-accounts', ctx.workspaceId, 10)
  // Registering can’t be undone, and uses up the key of an external account.
  await record(ctx.hub, async tx => {
    await refuseOverLimit(tx, ctx, 'acme_account')
    const isSame = and(eq(acmeAccounts.workspaceId, ctx.workspaceId), eq(acmeAccounts.name, input.name))
    const [same] = await tx.select({ id: acmeAccounts.id }).from(acmeAccounts).where(isSame)
    if (same) throw nameTaken(accounts.rows, input.name)
    return { result: undefined }
  })
  const context = await adapterContextOf(ctx.hub, ctx.workspaceId, { acme_account: 'unsaved' })
  const account_key = await createPrivateKey(key_type)
  const access: AcmeAccess = { directoryUrl: directory_url, ca: ca_pem, accountKey: account_key, accountUrl: null }
  const account_url = await registered(context, access, input)
  return await createAccount<AcmeAccountRow, AcmeAccountView>(
    ctx,
    accounts,
    {
      kind: acmeKind.kind,
      name: input.name,
      settings: {
        ...{ directory_url, key_type, account_url, account_key },
        ...(contact_email !== null && { contact_email }),
        ...(ca_pem !== null && { ca_pem }),
        ...(eab && { eab_kid: eab.kid }),
      },
    },
    { status: 'valid' },
    { jobs: row => [checkJobFor(accounts, row.id, row.createdAt)] },
  )
}

/** Registers an account. Returns its URL. @throws Problem 422 at the wrong field, 424 */
async function registered(
  context: AdapterContext,
  access: AcmeAccess,
  { contact_email = null, terms_agreed = false, eab = null }: AcmeAccountInput,
): Promise<string> {
  const refused = (pointer: string, code: string, detail: string) => invalid([{ pointer, code, detail }])
  try {
    const directory = await readDirectory(context, access).catch(error => {
      if (error instanceof AdapterError && ['invalid_response', 'incomplete', 'refused'].includes(error.failure))
        throw refused('#/directory_url', 'no_directory', `must be the URL of an ACME directory. ${error.message}`)
      throw error
    })
    if (directory.termsUrl !== null && !terms_agreed)
      throw refused('#/terms_agreed', 'required', `must be true: you must agree to the terms of service, ${directory.termsUrl}`)
    if (directory.needsExternalAccount && !eab)
      throw refused('#/eab', 'required', 'is required: this certificate authority only accepts external accounts.')
    const binding = eab ? { kid: eab.kid, hmacKey: eab.hmac_key } : undefined
    const url = await withAcme(context, access, session => session.register(contact_email, terms_agreed), binding)
    if (!url.startsWith('https://') || url.length > 2000)
      throw new AdapterError('invalid_response', 'The ACME server sent no URL of the account.', null, true)
    return url
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error
    if (error instanceof AcmeError && ['invalidContact', 'unsupportedContact'].includes(error.type))
      throw refused('#/contact_email', 'refused', `was refused. ${error.message}`)
    // Servers report a wrong key of an external account in several ways.
    if (eab && error instanceof AcmeError && ['unauthorized', 'malformed', 'externalAccountRequired'].includes(error.type))
      throw refused('#/eab', 'refused', `was refused. ${error.message}`)
    throw acmeProblem(error)
  }
}

/** The problem of a request that needed the certificate authority. */
export const acmeProblem = (error: AdapterError<string>): Problem =>
  new Problem('provider_failed', error.message, { fields: { failure: error.failure } })

/** Updates an account. A new contact is sent to the certificate authority in the background. @throws Problem 404, 409, 412, 422 */
export async function updateAcmeAccount(ctx: Ctx, id: string, patch: AcmeAccountPatch): Promise<AcmeAccountView> {
  const { name, ...settings } = patch
  if (patch.ca_pem !== undefined) settings.ca_pem = checkedCertificates(patch.ca_pem)
  if (Object.keys(settings).length > 0) refuseDeactivated(await acmeAccountOf(ctx, id))
  return await updateAccount<AcmeAccountRow, AcmeAccountView>(
    ctx,
    accounts,
    id,
    { ...(name !== undefined && { name }), settings },
    () => ({}),
    {
      done: async (_, { settingsChanged }, after) => (settingsChanged ? [checkJobFor(accounts, id, after.updatedAt)] : []),
    },
  )
}

/** Deletes an account and its key. It stays valid at the certificate authority. @throws Problem 404, 409, 412 */
export const deleteAcmeAccount = (ctx: Ctx, id: string): Promise<void> =>
  deleteAccount(ctx, accounts, id, tx => refuseInUse(tx, id, ctx.hub.clock.now()))

/** @throws Problem 409 while managed certificates use the account, or need it to be revoked */
async function refuseInUse(tx: Tx, id: string, now: number): Promise<void> {
  const { acmeAccountId, issuedByAccountId, revokedAt, notAfter } = managedCertificates
  const isIssuer = and(eq(issuedByAccountId, id), isNull(revokedAt), gt(notAfter, now))
  const [used] = await tx
    .select({ n: count() })
    .from(managedCertificates)
    .where(or(eq(acmeAccountId, id), isIssuer))
  if (used!.n > 0)
    throw conflict(
      `The account is used by ${pluralize(used!.n, 'managed certificates')}. Delete them first, or change their account and renew them.`,
    )
}

/** Checks an account now. A failing check is a result, not an error of the request. @throws Problem 404, 409, 429 */
export async function checkAcmeAccountNow(ctx: Ctx, id: string): Promise<AcmeAccountView> {
  refuseDeactivated(await acmeAccountOf(ctx, id))
  return await checkAccount(ctx, accounts, id)
}

/**
 * Deactivates an account at the certificate authority forever, and destroys its key.
 * @throws Problem 404, 409 if it was deactivated before, 412, 424 `provider_failed`
 */
export async function deactivateAcmeAccount(ctx: Ctx, id: string): Promise<AcmeAccountView> {
  const found = await acmeAccountOf(ctx, id)
  requireMatch(ctx, found)
  refuseDeactivated(found)
  try {
    await withAccount(ctx.hub, found, async (context, access) => {
      await withAcme(context, access, session => session.deactivate())
    })
  } catch (error) {
    // After a request that was interrupted, the account is no longer valid.
    const isGone = error instanceof AcmeError && ['unauthorized', 'accountDoesNotExist'].includes(error.type)
    if (!isGone) throw error instanceof AdapterError ? acmeProblem(error) : error
  }
  return await change(ctx, 'certificates.acme_account.deactivate', async tx => {
    // The version was checked before.
    const before = await lockRow(tx, { ...ctx, ifMatch: null }, accounts.rows, id)
    const after = await saveRow(tx, ctx, accounts.rows, before, {
      status: 'deactivated',
      secretsSealed: null,
      secretNames: [],
      ...unchecked,
    })
    return await changedRow(accounts.rows, before, after, view)
  })
}

/** Opens an account for calls to its certificate authority. @throws DecryptionFailed, AdapterError `refused` if it was deactivated */
export async function withAccount<T>(
  hub: Hub,
  row: AcmeAccountRow,
  run: (context: AdapterContext, access: AcmeAccess) => Promise<T>,
): Promise<T> {
  if (row.status === 'deactivated') throw new AdapterError('refused', 'The ACME account was deactivated.', null, false)
  const settings = (await openAccountSettings(hub, accounts, row)) as AcmeSettings
  return await run(await adapterContextOf(hub, row.workspaceId, { acme_account: row.id }), accessOf(settings))
}

export const checkAcmeAccountJob = checkJob(accounts)

/** @throws Problem 409 */
function refuseDeactivated({ status }: AcmeAccountRow): void {
  if (status === 'deactivated') throw conflict('The account was deactivated.')
}

/** The certificates without anything else. @throws Problem 422, `private_key_refused` */
function checkedCertificates(pem: string | null | undefined): string | null {
  refusePrivateKey('#/ca_pem', pem)
  if (pem === null || pem === undefined) return null
  if (!areCertificates(pem))
    throw invalid([{ pointer: '#/ca_pem', code: 'format', detail: 'must contain only PEM certificates.' }])
  return certificatesIn(pem)
}

function view(row: AcmeAccountRow): AcmeAccountView {
  const { id, name, settings } = accountView(row)
  const { directory_url, contact_email = null, eab_kid, key_type, ca_pem = null, account_url } = settings as AcmeSettings
  return {
    id,
    name,
    directory_url,
    contact_email,
    eab: eab_kid === undefined ? null : { kid: eab_kid },
    key_type,
    ca_pem,
    account_url,
    status: row.status,
    ...checkView(row),
    ...editableView(row),
  }
}
