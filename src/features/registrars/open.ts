import type { AccountRow } from '../../adapters/accounts/columns'
import { openAccount } from '../../adapters/accounts/check'
import { paced } from '../../adapters/accounts/pace'
import type { Hub } from '../../core/hub'
import { rowsOf } from '../../registry'
import { trackedNames } from '../domains/account-domains'
import { registrarKindOf } from './kinds'
import type { Registrar } from './registrar'
import { registrarAccounts } from './tables'

export const registrarAccountRows = {
  rows: rowsOf('registrar_account', registrarAccounts),
  name: 'registrar_account',
  kindOf: registrarKindOf,
}

/**
 * Opens an account, whose requests keep to the rate limit of its kind.
 * @param isInteractive a person waits for the response
 * @throws RegistrarError `refused` for an unknown kind, DecryptionFailed
 */
const openRegistrar = (hub: Hub, row: AccountRow, isInteractive: boolean): Promise<Registrar> =>
  openAccount(hub, registrarAccountRows, row, async (kind, settings, context) =>
    kind.open(settings, {
      ...(await paced(hub, { type: 'registrar-account', id: row.id, settings }, kind.caps.pace, context, isInteractive)),
      trackedNames: (after, count) => trackedNames(hub.read, row.id, after, count),
    }),
  )

/** Opens an account for as long as a call takes. @throws AdapterError */
export async function withRegistrar<T>(
  hub: Hub,
  row: AccountRow,
  isInteractive: boolean,
  call: (registrar: Registrar) => Promise<T>,
): Promise<T> {
  const registrar = await openRegistrar(hub, row, isInteractive)
  try {
    return await call(registrar)
  } finally {
    await registrar.close?.()
  }
}
