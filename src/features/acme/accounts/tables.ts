import { accountColumns, checkColumns } from '../../../adapters/accounts/columns'
import { text } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import type { AcmeFailure } from '../client/acme-error'
import { acmeAccountStatuses } from './shapes'

/** Accounts at certificate authorities. */
export const acmeAccounts = table(
  'acme_accounts',
  {
    ...accountColumns(),
    ...checkColumns<AcmeFailure>(),
    // A deactivated account has no key anymore.
    status: text('status', { enum: [...acmeAccountStatuses] }).notNull(),
  },
  t => [uniqueIndex('acme_accounts_name').on(t.workspaceId, t.name), index('acme_accounts_workspace').on(t.workspaceId, t.id)],
)
