import { and, eq, gt } from 'drizzle-orm'
import { refuseTooManyRequests } from '../../../access/limiter'
import { refuseOverLimit } from '../../../access/plans'
import { AdapterError } from '../../../adapters/failure'
import { instant } from '../../../core/clock'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { listingOf, listPage } from '../../../core/list'
import { flagFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { inputColumns, patchColumns } from '../../../core/members'
import { pemBlocks } from '../../../core/net/pem'
import { sealedIn } from '../../../core/outgoing/signing-secrets'
import { conflict, invalid, Problem } from '../../../core/problem'
import { changedRow, findRow, insertRow, lockRow, refuseDuplicate, removeRow, saveRow, targetOf } from '../../../core/rows'
import { cancelForDeletion, openActionIds } from '../../actions/open-actions'
import type { ActionView } from '../../actions/shapes'
import { forgetIssued, updateIssued } from '../../certificates/issued'
import { acmeAccountOf, withAccount, type AcmeAccountRow } from '../accounts/accounts'
import { readDirectory } from '../client/session'
import { refusePrivateKey } from '../keys'
import { CsrError, parseCsr } from './csr'
import { deliveryColumns, isUndelivered } from './delivery'
import { changerOf, random, withdraw } from './finish'
import { certificateNames } from './names'
import { placesOf, refuseByCaa } from './prerequisites'
import { managedRows, managedView } from './rows'
import { renewalAt } from './schedule'
import {
  isRunning,
  managedCertificateMembers,
  managedStatuses,
  revocationReasons,
  type ManagedCertificateDownload,
  type ManagedCertificateInput,
  type ManagedCertificatePatch,
  type ManagedCertificateRenewal,
  type ManagedCertificateRevocation,
  type ManagedCertificateView,
} from './shapes'
import { issuing, startIssuing, startRevoking } from './start'
import { managedCertificates, type ManagedCertificateRow } from './tables'

export const managedCertificateListing = listingOf('managed-certificates', managedCertificates, {
  isSmall: true,
  filters: {
    status: wordsFilter(managedCertificates.status, managedStatuses, 'Only managed certificates with these statuses.'),
    paused: flagFilter(managedCertificates.paused, 'True for paused managed certificates, false for the others.'),
    acme_account_id: textFilter(managedCertificates.acmeAccountId, 'Only managed certificates of this ACME account.'),
    q: searchFilter([managedCertificates.namesText], 'Only managed certificates whose names contain all words of this text.'),
    ...timeFilters('created_at', managedCertificates.createdAt),
  },
  sorts: ['created_at'],
})

export const listManagedCertificates = (ctx: Ctx, query: Record<string, unknown>) =>
  listPage(ctx, managedCertificateListing, query, managedView)

/** @throws Problem 404 */
export const getManagedCertificate = async (ctx: Ctx, id: string): Promise<ManagedCertificateView> =>
  managedView(await findRow(ctx.hub.read, ctx, managedRows, id))

/**
 * Creates a managed certificate, and starts to issue it.
 * @throws Problem 403 `plan_limit_reached`, 409 `no_managed_zone`, `zone_not_writable`, `caa_forbids`, 422, 429
 */
export async function createManagedCertificate(ctx: Ctx, input: ManagedCertificateInput): Promise<ManagedCertificateView> {
  refusePrivateKey('#/csr', input.csr)
  const names = certificateNames(input.names)
  const key = keyColumns(input, names)
  const delivery = await deliveryOf(ctx, input, names)
  const account = await accountOf(ctx, input.acme_account_id)
  await requirePermission(ctx, names, account)
  return await change(ctx, 'certificates.managed_certificate.create', async tx => {
    const row = await insertManaged(tx, ctx, input, { names, account, key, delivery })
    const started = await startIssuing(tx, ctx, row)
    return { ...(await changedRow(managedRows, null, started.row, managedView)), jobs: started.jobs ?? [] }
  })
}

/**
 * Inserts a managed certificate, within a change.
 * @throws Problem 403 `plan_limit_reached`, 409 if another certificate is installed at the same place
 */
export async function insertManaged(
  tx: Tx,
  ctx: Ctx,
  input: ManagedCertificateInput,
  {
    names,
    account,
    key,
    delivery = notDelivered,
  }: { names: string[]; account: AcmeAccountRow; key: ReturnType<typeof keyColumns>; delivery?: Delivery },
): Promise<ManagedCertificateRow> {
  await refuseOverLimit(tx, ctx, 'managed_certificate')
  return await insertDelivered(tx, ctx, {
    ...inputColumns(managedCertificateMembers, input),
    ...{ names, namesText: textOf(names), acmeAccountId: account.id, status: 'pending', paused: false, ...key, ...delivery },
    ...{
      keySealed: null,
      keyTakenAt: null,
      nextKeySealed: null,
      certificateId: null,
      chain: null,
      issuedByAccountId: null,
      notBefore: null,
      notAfter: null,
      deliveredAt: null,
    },
    ...{ issuedAt: null, revokedAt: null, ariId: null, ari: null, ariCheckAt: null, nextRenewalAt: null },
    ...{ attempts: 0, lastError: null, actionId: null },
  })
}

/** @throws Problem 404, 412, 422 */
export async function updateManagedCertificate(
  ctx: Ctx,
  id: string,
  patch: ManagedCertificatePatch,
): Promise<ManagedCertificateView> {
  refusePrivateKey('#/csr', patch.csr)
  const account = patch.acme_account_id === undefined ? null : await accountOf(ctx, patch.acme_account_id)
  return await change(ctx, 'certificates.managed_certificate.update', async tx => {
    const before = await lockRow(tx, ctx, managedRows, id)
    if (patch.csr !== undefined && before.keyMode !== 'csr') throw notAllowed('#/csr', before.keyMode)
    const request = patch.csr === undefined ? null : requestOf(patch.csr, before.names)
    const renew = patch.renew === before.renew ? undefined : patch.renew
    const nextRenewalAt = renew === 'auto' ? automaticAt(before, ctx.hub.clock.now()) : null
    if (nextRenewalAt !== null)
      await updateIssued(tx, ctx.workspaceId, before.certificateId, { renewalDueAt: nextRenewalAt }, ctx.hub.clock.now())
    const after = await saveRow(tx, ctx, managedRows, before, {
      ...(renew && { nextRenewalAt }),
      ...patchColumns(managedCertificateMembers, patch),
      ...(account && { acmeAccountId: account.id }),
      ...(request && { csr: request.pem, keyType: request.keyType }),
    })
    return await changedRow(managedRows, before, after, managedView)
  })
}

/** When a certificate is renewed that was not renewed automatically until now; null if an action is issuing it, or if it was revoked. */
function automaticAt(
  { status, issuedAt, revokedAt, notBefore, notAfter, ari }: ManagedCertificateRow,
  now: number,
): number | null {
  if (isRunning(status) || revokedAt !== null) return null
  return issuedAt && notBefore && notAfter ? renewalAt({ issuedAt, notBefore, notAfter, ari }, now, random) : now
}

/**
 * Deletes a managed certificate with its key, and cancels the action that issues it. The certificate stays valid until it expires.
 * @throws Problem 404, 409 while it is being revoked, 412
 */
export const deleteManagedCertificate = (ctx: Ctx, id: string): Promise<void> =>
  change(ctx, 'certificates.managed_certificate.delete', async tx => {
    const { actionId } = await findRow(tx, ctx, managedRows, id)
    // Actions are locked before their resources.
    const canceled = actionId === null ? {} : await cancelForDeletion(tx, actionId, issuing.type, ctx.hub.clock.now())
    const withdrawn = await withdraw(tx, changerOf(ctx.hub, ctx.workspaceId, ctx.actor), id)
    const row = await lockRow(tx, ctx, managedRows, id)
    if (row.actionId !== null && (await openActionIds(tx, [row.actionId])).size > 0)
      throw conflict('The managed certificate is being revoked. Wait until the action has finished.')
    await removeRow(tx, managedRows, row)
    await forgetIssued(tx, ctx.workspaceId, id, ctx.hub.clock.now())
    const own = { result: undefined, target: targetOf(managedRows, row), before: managedView(row) }
    return { ...own, ...withdrawn, wakeTopics: [...(withdrawn.wakeTopics ?? []), ...(canceled.wakeTopics ?? [])] }
  })

const dayMs = 86_400_000

/**
 * Starts to renew a certificate, or to issue it after failed attempts. One that was issued, but not delivered, is only delivered, unless
 * `force` is set.
 * @throws Problem 404, 409 `issued_recently`, `resource_locked`, `no_managed_zone`, `zone_not_writable`, `caa_forbids`, 412, 429
 */
export async function renewManagedCertificate(
  ctx: Ctx,
  id: string,
  { force = false }: ManagedCertificateRenewal,
): Promise<ActionView> {
  const found = await findRow(ctx.hub.read, ctx, managedRows, id)
  const isDelivery = (row: ManagedCertificateRow) => !force && isUndelivered(row, ctx.hub.clock.now())
  if (!isDelivery(found)) {
    if (!force) await refuseIssuedRecently(ctx, found)
    await requirePermission(ctx, found.names, await acmeAccountOf(ctx, found.acmeAccountId))
  }
  return await change(ctx, 'certificates.managed_certificate.renew', async tx => {
    const before = await lockRow(tx, ctx, managedRows, id)
    const { row, action, jobs = [] } = await startIssuing(tx, ctx, before, { isDelivery: isDelivery(before) })
    return {
      result: action,
      target: [targetOf(managedRows, row), { type: 'action', id: action.id, name: action.type }],
      before: { status: before.status },
      after: { status: row.status },
      jobs,
    }
  })
}

/** @throws Problem 409 `issued_recently` */
export async function refuseIssuedRecently(ctx: Ctx, { namesText }: Pick<ManagedCertificateRow, 'namesText'>): Promise<void> {
  const [recent] = await ctx.hub.read
    .select({ issuedAt: managedCertificates.issuedAt })
    .from(managedCertificates)
    .where(
      and(
        eq(managedCertificates.workspaceId, ctx.workspaceId),
        eq(managedCertificates.namesText, namesText),
        gt(managedCertificates.issuedAt, ctx.hub.clock.now() - dayMs),
      ),
    )
  if (recent)
    throw new Problem(
      'issued_recently',
      `A certificate with these names was issued at ${instant(recent.issuedAt)}. Certificate authorities limit how often the same names are issued; renew it with \`force\` to issue it anyway.`,
    )
}

/** Starts to revoke the current certificate. @throws Problem 404, 409 if there is none or it was revoked, 412 */
export const revokeManagedCertificate = (
  ctx: Ctx,
  id: string,
  { reason = 'unspecified' }: ManagedCertificateRevocation,
): Promise<ActionView> =>
  change(ctx, 'certificates.managed_certificate.revoke', async tx => {
    const before = await lockRow(tx, ctx, managedRows, id)
    if (before.chain === null) throw conflict('No certificate has been issued yet.')
    if (before.revokedAt !== null) throw conflict('The certificate was revoked already.')
    const { row, action, jobs = [] } = await startRevoking(tx, ctx, before, revocationReasons[reason])
    return {
      result: action,
      target: [targetOf(managedRows, row), { type: 'action', id: action.id, name: action.type }],
      before: {},
      after: { reason },
      jobs,
    }
  })

/** Pauses or resumes automatic attempts. @throws Problem 404, 412 */
const setPaused = (verb: 'pause' | 'resume') => (ctx: Ctx, id: string) =>
  change(ctx, `certificates.managed_certificate.${verb}`, async tx => {
    const before = await lockRow(tx, ctx, managedRows, id)
    const after = await saveRow(tx, ctx, managedRows, before, { paused: verb === 'pause' })
    return await changedRow(managedRows, before, after, managedView)
  })

export const pauseManagedCertificate = setPaused('pause')
export const resumeManagedCertificate = setPaused('resume')

/**
 * Returns the certificate with its private key, which is destroyed if it may leave only once.
 * @throws Problem 404, 409 before the first certificate, 410 `key_gone`, 412
 */
export const downloadManagedCertificate = (ctx: Ctx, id: string): Promise<ManagedCertificateDownload> =>
  change(ctx, 'certificates.managed_certificate.download', async tx => {
    const before = await lockRow(tx, ctx, managedRows, id)
    if (before.chain === null) throw conflict('No certificate has been issued yet.')
    if (before.keyMode === 'hub' && before.keySealed === null)
      throw new Problem(
        'key_gone',
        `The private key was downloaded at ${instant(before.keyTakenAt)}, and destroyed afterwards. Renew the certificate to get one with a new key.`,
      )
    const private_key =
      before.keySealed === null
        ? null
        : await ctx.hub.keys.open(sealedIn(managedCertificates, before, 'key_sealed'), before.keySealed, tx)
    const columns = before.keyRetention === 'once' ? { keySealed: null, keyTakenAt: ctx.hub.clock.now() } : {}
    const after = await saveRow(tx, ctx, managedRows, before, columns)
    return {
      result: { certificate: `${pemBlocks(before.chain)[0]!}\n`, chain: before.chain, private_key },
      target: targetOf(managedRows, before),
      before: { key_available: before.keySealed !== null },
      after: { key_available: after.keySealed !== null },
    }
  })

/** @throws Problem 422 if there is no such account, 409 if it was deactivated */
export async function accountOf(ctx: Ctx, id: string): Promise<AcmeAccountRow> {
  const account = await acmeAccountOf(ctx, id).catch(error => {
    if (!(error instanceof Problem)) throw error
    throw invalid([{ pointer: '#/acme_account_id', code: 'not_found', detail: 'There is no ACME account with this ID.' }])
  })
  if (account.status === 'deactivated') throw conflict('The ACME account was deactivated.')
  return account
}

/**
 * Refuses what would certainly fail. If the certificate authority can’t be reached, CAA records are checked by the action.
 * @throws Problem 409, 429
 */
export async function requirePermission(ctx: Ctx, names: readonly string[], account: AcmeAccountRow): Promise<void> {
  await placesOf(ctx.hub.read, ctx.workspaceId, names)
  refuseTooManyRequests(ctx, 'certificate-orders', ctx.workspaceId, 30)
  try {
    await withAccount(ctx.hub, account, async (context, access) => {
      const { caaIdentities } = await readDirectory(context, access)
      await refuseByCaa(ctx.hub.read, ctx.workspaceId, names, { identities: caaIdentities, accountUrl: access.accountUrl! })
    })
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error
  }
}

export const textOf = (names: readonly string[]): string => names.toSorted().join(' ')

const notAllowed = (pointer: string, mode: string) =>
  invalid([{ pointer, code: 'not_allowed', detail: `is not allowed with the key mode \`${mode}\`.` }])

/** @throws Problem 422 */
export function keyColumns({ key = {}, csr }: ManagedCertificateInput, names: readonly string[]) {
  const { mode = 'hub', type, retention } = key
  if (mode === 'hub') {
    if (csr !== undefined) throw notAllowed('#/csr', mode)
    return { keyMode: mode, keyType: type ?? 'ec-256', keyRetention: retention ?? 'once', csr: null } as const
  }
  if (retention !== undefined) throw notAllowed('#/key/retention', mode)
  if (mode === 'agent') {
    if (csr !== undefined) throw notAllowed('#/csr', mode)
    return { keyMode: mode, keyType: type ?? 'ec-256', keyRetention: null, csr: null } as const
  }
  if (type !== undefined) throw notAllowed('#/key/type', mode)
  if (csr === undefined) throw invalid([{ pointer: '#/csr', code: 'required', detail: 'is required with the key mode `csr`.' }])
  const request = requestOf(csr, names)
  return { keyMode: mode, keyType: request.keyType, keyRetention: null, csr: request.pem } as const
}

type Delivery = Pick<ManagedCertificateRow, 'deliverServerId' | 'installProfile'>

const notDelivered: Delivery = { deliverServerId: null, installProfile: null }

/** @throws Problem 403, 409, 422 */
async function deliveryOf(ctx: Ctx, { key, deliver }: ManagedCertificateInput, names: readonly string[]): Promise<Delivery> {
  if (key?.mode !== 'agent') {
    if (deliver !== undefined) throw notAllowed('#/deliver', key?.mode ?? 'hub')
    return notDelivered
  }
  if (deliver === undefined)
    throw invalid([{ pointer: '#/deliver', code: 'required', detail: 'is required with the key mode `agent`.' }])
  return await deliveryColumns(ctx, deliver, names)
}

/** @throws Problem 409 if another certificate is installed at the same place */
const insertDelivered = (tx: Tx, ctx: Ctx, columns: Parameters<typeof insertRow<typeof managedCertificates>>[3]) =>
  refuseDuplicate(
    'Another managed certificate is installed with the same profile on this server.',
    () => insertRow(tx, ctx, managedRows, columns),
    [
      {
        pointer: '#/deliver/install_profile',
        code: 'already_exists',
        detail: 'must not be used by another managed certificate.',
      },
    ],
  )

/** @throws Problem 422 unless the request has exactly these names */
function requestOf(csr: string, names: readonly string[]) {
  try {
    const request = parseCsr(csr)
    if (textOf(request.names) === textOf(names)) return request
    const differing = [...new Set([...request.names, ...names])].filter(
      name => !(request.names.includes(name) && names.includes(name)),
    )
    throw new CsrError(`must have exactly the names of the certificate; different: ${differing.slice(0, 5).join(', ')}.`)
  } catch (error) {
    if (!(error instanceof CsrError)) throw error
    throw invalid([{ pointer: '#/csr', code: 'csr', detail: error.message }])
  }
}
