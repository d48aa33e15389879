import { and, desc, eq } from 'drizzle-orm'
import { lockLimit } from '../../../access/plans'
import { auditDrafts } from '../../../core/change'
import type { ChangeResult } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import { changedRow, saveRow, targetOf } from '../../../core/rows'
import type { ActionView } from '../../actions/shapes'
import type { AcmeAccountRow } from '../accounts/accounts'
import { lockManaged } from './finish'
import { accountOf, insertManaged, keyColumns, refuseIssuedRecently, requirePermission, textOf } from './managed-certificates'
import { certificateNames } from './names'
import { managedRows, managedView } from './rows'
import { startIssuing } from './start'
import { managedCertificates, type ManagedCertificateRow } from './tables'

/** Names for which a certificate can be issued. */
interface IssuableNames {
  names: string[]
  account: AcmeAccountRow
}

/**
 * Checks whether a certificate for names can be issued.
 * @throws Problem 409 `no_managed_zone`, `zone_not_writable`, `caa_forbids`, `issued_recently`, or if the account was deactivated; 422 if
 * there is no such account, and with the pointer `#/names/N` for each invalid name and duplicate; 429
 */
export async function issuableNames(ctx: Ctx, texts: readonly string[], accountId: string): Promise<IssuableNames> {
  const names = certificateNames(texts)
  const account = await accountOf(ctx, accountId)
  await refuseIssuedRecently(ctx, { namesText: textOf(names) })
  await requirePermission(ctx, names, account)
  return { names, account }
}

/**
 * Starts to issue a certificate for names, within a change. Renews the managed certificate with exactly these names if there is one, with
 * the account. Otherwise, creates one whose key can be downloaded once.
 * @param also other resources that the action works on
 * @throws Problem 403 `plan_limit_reached`, 409 `resource_locked`
 */
export async function issueNames(
  tx: Tx,
  ctx: Ctx,
  { names, account }: IssuableNames,
  also: readonly { type: string; id: string }[],
): Promise<ChangeResult<ActionView>> {
  // Another request may be creating the same one.
  await lockLimit(tx, 'managed_certificates', ctx.workspaceId)
  const existing = await managedFor(tx, ctx.workspaceId, names)
  const input = { names, acme_account_id: account.id }
  const row = existing
    ? await saveRow(tx, ctx, managedRows, existing, { acmeAccountId: account.id })
    : await insertManaged(tx, ctx, input, { names, account, key: keyColumns(input, names) })
  const started = await startIssuing(tx, ctx, row, { also })
  const { id, type } = started.action
  const changed = await changedRow(managedRows, existing ?? null, started.row, managedView)
  const target = [targetOf(managedRows, row), { type: 'action', id, name: type }]
  const audits = existing
    ? auditDrafts(ctx, 'certificates.managed_certificate.renew', { ...changed, target })
    : auditDrafts(ctx, 'certificates.managed_certificate.create', changed)
  return { result: started.action, target, audits, jobs: started.jobs ?? [] }
}

/** The managed certificate with exactly these names, the newest if there are several, locked until the transaction ends. */
async function managedFor(tx: Tx, workspaceId: string, names: readonly string[]): Promise<ManagedCertificateRow | undefined> {
  const { id, namesText } = managedCertificates
  const [found] = await tx
    .select({ id })
    .from(managedCertificates)
    .where(and(eq(managedCertificates.workspaceId, workspaceId), eq(namesText, textOf(names))))
    .orderBy(desc(id))
    .limit(1)
  return found && (await lockManaged(tx, found.id))
}
