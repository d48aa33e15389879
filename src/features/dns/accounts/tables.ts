import { accountColumns, checkColumns } from '../../../adapters/accounts/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import type { ProviderFailure } from '../providers/provider'

/** External DNS providers, and how to reach them. */
export const dnsProviders = table(
  'dns_providers',
  {
    ...accountColumns(),
    ...checkColumns<ProviderFailure>(),
  },
  t => [uniqueIndex('dns_providers_name').on(t.workspaceId, t.name), index('dns_providers_workspace').on(t.workspaceId, t.id)],
)
