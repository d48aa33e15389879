import { openAccount } from '../../../adapters/accounts/check'
import type { AccountRow } from '../../../adapters/accounts/columns'
import { paced } from '../../../adapters/accounts/pace'
import type { Hub } from '../../../core/hub'
import { rowsOf } from '../../../registry'
import { cloudKindOf } from '../clouds'
import type { Cloud } from '../clouds/cloud'
import { cloudAccounts } from './tables'

export const cloudAccountRows = {
  rows: rowsOf('cloud_account', cloudAccounts),
  name: 'cloud_account',
  kindOf: cloudKindOf,
}

/**
 * Opens a cloud account, whose requests keep to the rate limit of its kind.
 * @param isInteractive a person waits for the response
 * @throws CloudError `refused` for an unknown kind, DecryptionFailed
 */
export const openCloud = (hub: Hub, row: AccountRow, isInteractive: boolean): Promise<Cloud> =>
  openAccount(hub, cloudAccountRows, row, async (kind, settings, context) =>
    kind.open(settings, await paced(hub, { type: 'cloud-account', id: row.id, settings }, kind.pace, context, isInteractive)),
  )
