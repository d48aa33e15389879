import { openAccount } from '../../../adapters/accounts/check'
import { paced } from '../../../adapters/accounts/pace'
import type { AccountRow } from '../../../adapters/accounts/columns'
import type { Hub } from '../../../core/hub'
import { rowsOf } from '../../../registry'
import { providerKindOf } from '../providers'
import type { DnsProvider } from '../providers/provider'
import { dnsProviders } from './tables'

export const providerAccounts = {
  // Hidden from tokens that are limited to other resources.
  rows: rowsOf('dns_provider', dnsProviders),
  name: 'provider',
  kindOf: providerKindOf,
}

/**
 * Opens a provider, whose requests keep to the rate limit of its kind.
 * @param isInteractive a person waits for the response
 * @throws ProviderError `refused` for an unknown kind, DecryptionFailed
 */
export const openProvider = (hub: Hub, row: AccountRow, isInteractive: boolean): Promise<DnsProvider> =>
  openAccount(hub, providerAccounts, row, async (kind, settings, context) =>
    kind.open(settings, await paced(hub, { type: 'dns-provider', id: row.id, settings }, kind.caps.pace, context, isInteractive)),
  )
