import type { CloudAccountView } from '../../features/servers/accounts/shapes'
import { EditAccountPage } from '../parts/account-pages'
import { resourcePage } from '../parts/resource-page'
import { AccountFields, accountBody, accountValues } from './cloud/account-fields'
import { invalidates, useCloudKinds } from './cloud/accounts'

/** Edits a cloud account. */
export default resourcePage({ path: '/cloud-accounts', parent: '/cloud-accounts' }, EditAccount)

function EditAccount({ resource }: { resource: CloudAccountView }) {
  return (
    <EditAccountPage
      account={resource}
      kinds={useCloudKinds()}
      parent="/cloud-accounts"
      invalidates={invalidates}
      valuesOf={accountValues}
      bodyOf={accountBody}
      fields={(kind, { secrets_set: secretsSet }) => <AccountFields kind={kind} secretsSet={secretsSet} />}
    />
  )
}
