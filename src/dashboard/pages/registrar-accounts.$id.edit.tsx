import type { RegistrarAccountView } from '../../features/registrars/shapes'
import { EditAccountPage } from '../parts/account-pages'
import { resourcePage } from '../parts/resource-page'
import { AccountFields } from './registrars/account-fields'
import { accountBody, accountValues, invalidates, useRegistrarKinds } from './registrars/accounts'

/** Edits a registrar account. */
export default resourcePage({ path: '/registrar-accounts', parent: '/registrar-accounts' }, EditAccount)

function EditAccount({ resource }: { resource: RegistrarAccountView }) {
  return (
    <EditAccountPage
      account={resource}
      kinds={useRegistrarKinds()}
      parent="/registrar-accounts"
      invalidates={invalidates}
      valuesOf={accountValues}
      bodyOf={accountBody}
      fields={(kind, { secrets_set: secretsSet }) => <AccountFields kind={kind} secretsSet={secretsSet} />}
    />
  )
}
