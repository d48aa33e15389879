import { NewAccountPage } from '../parts/account-pages'
import { AccountFields, accountBody, accountValues } from './cloud/account-fields'
import { checkedAccounts, invalidates, useCloudKinds } from './cloud/accounts'

/** Adds a cloud account. */
export default function NewCloudAccount() {
  return (
    <NewAccountPage
      kinds={useCloudKinds()}
      kindLabel="Kind"
      parent="/cloud-accounts"
      page="/cloud-accounts/$id"
      path="/cloud-accounts"
      invalidates={invalidates}
      description="An account at a cloud, or a hypervisor of your own, and the credentials Bailiwick uses to reach it."
      initial={kind => accountValues(kind, null)}
      bodyOf={(kind, values) => accountBody(kind, values, null)}
      fields={kind => <AccountFields kind={kind} withSpend />}
      checked={checkedAccounts}
      checkPath="/cloud-checks"
    />
  )
}
