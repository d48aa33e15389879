import { eq } from 'drizzle-orm'
import { AdapterError } from '../../../adapters/failure'
import { pemBlocks } from '../../../core/net/pem'
import { Problem } from '../../../core/problem'
import { saveRow } from '../../../core/rows'
import type { ActionKind } from '../../actions/kind'
import { updateIssued } from '../../certificates/issued'
import { acmeProblem, withAccount } from '../accounts/accounts'
import { acmeAccounts } from '../accounts/tables'
import { AcmeError } from '../client/acme-error'
import { withAcme } from '../client/session'
import { lockManaged } from './finish'
import { managedRows } from './rows'
import { revocationReasons } from './shapes'
import { revoking } from './start'
import { managedCertificates } from './tables'

/** A reason by its number; null for `unspecified`, which is as good as none (RFC 5280 section 5.3.1). */
function reasonOf(code: number): string | null {
  const found = Object.entries(revocationReasons).find(([, number]) => number === code)
  return code === revocationReasons.unspecified || !found ? null : found[0]
}

/** Revokes a certificate with the key of the account that issued it (RFC 8555 section 7.6). */
export const revokeAction: ActionKind<{ reason: number }> = {
  ...revoking,
  async run(hub, { resources, input }) {
    const { id } = resources[0]!
    const [found] = await hub.read
      .select({ row: managedCertificates, account: acmeAccounts })
      .from(managedCertificates)
      .innerJoin(acmeAccounts, eq(acmeAccounts.id, managedCertificates.issuedByAccountId))
      .where(eq(managedCertificates.id, id))
    if (!found?.row.chain)
      return async () => ({ result: { failed: new Problem('not_found', 'There is no certificate to revoke.') } })
    const { row, account } = found
    try {
      await withAccount(hub, account, (context, access) =>
        withAcme(context, access, session => session.revoke(pemBlocks(row.chain!)[0]!, input.reason)),
      )
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error
      // After a request that was interrupted.
      if (!(error instanceof AcmeError && error.type === 'alreadyRevoked'))
        return async () => ({ result: { failed: acmeProblem(error) } })
    }
    return async tx => {
      const current = await lockManaged(tx, id)
      // Another certificate may have been issued meanwhile.
      const now = hub.clock.now()
      if (current?.chain === row.chain)
        await saveRow(tx, { hub }, managedRows, current, {
          ...{ status: 'revoked', revokedAt: now, nextRenewalAt: null, ariCheckAt: null },
        })
      const revocationReason = reasonOf(input.reason)
      await updateIssued(tx, row.workspaceId, row.certificateId, { revokedAt: now, revocationReason }, now)
      return { result: { done: null } }
    }
  },
}
