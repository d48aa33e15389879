import type { Hub } from '../../../core/hub'
import { loadAcmeLibrary } from '../client/library'
import { acmeAccounts } from './tables'

/**
 * Loads the ACME library if there are accounts. That blocks the process for up to 0.1 s, so it is done before the hub accepts requests.
 * Without accounts, it is loaded when the first one is registered.
 */
export async function prepareIssuing({ read }: Hub): Promise<void> {
  const [account] = await read.select({ id: acmeAccounts.id }).from(acmeAccounts).limit(1)
  if (account) await loadAcmeLibrary()
}
