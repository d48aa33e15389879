import { accountView } from '../../../adapters/accounts/accounts'
import { editableView } from '../../../core/members'
import { checkView } from '../../../adapters/accounts/check'
import type { DnsProviderView } from './shapes'
import type { dnsProviders } from './tables'
import { builtin } from '../zones/shapes'

export type ProviderRow = typeof dnsProviders.$inferSelect

/** Converts a provider to its API form, with only the names of its secrets. */
export const providerView = (row: ProviderRow): DnsProviderView => ({
  ...accountView(row),
  ...checkView(row),
  ...editableView(row),
})

/** The built-in name server, which every workspace has. It is always available, so it is never checked. */
export const builtinView = (
  row: Pick<ProviderRow, 'version' | 'createdAt' | 'updatedAt'>,
  warnings: string[],
): DnsProviderView => ({
  id: builtin,
  kind: builtin,
  name: 'Built-in name server',
  settings: {},
  secrets_set: [],
  state: 'ok',
  detail: null,
  warnings,
  last_checked_at: null,
  last_ok_at: null,
  last_error: null,
  ...editableView(row),
})
