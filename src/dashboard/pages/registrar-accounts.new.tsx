import { NewAccountPage } from '../parts/account-pages'
import { AccountFields } from './registrars/account-fields'
import { accountBody, accountValues, checkedAccounts, invalidates, useRegistrarKinds } from './registrars/accounts'

/** Adds a registrar account. */
export default function NewRegistrarAccount() {
  return (
    <NewAccountPage
      kinds={useRegistrarKinds()}
      kindLabel="Registrar"
      parent="/registrar-accounts"
      page="/registrar-accounts/$id"
      path="/registrar-accounts"
      invalidates={invalidates}
      description="An account at a registrar, and the credentials Bailiwick uses to reach it."
      initial={kind => accountValues(kind, null)}
      bodyOf={(kind, values) => accountBody(kind, values, null)}
      fields={kind => <AccountFields kind={kind} />}
      checked={checkedAccounts}
      checkPath="/registrar-account-checks"
    />
  )
}
