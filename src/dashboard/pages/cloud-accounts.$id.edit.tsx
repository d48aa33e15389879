import type { CloudAccountView } from '../../features/servers/accounts/shapes'
import { EditPage } from '../parts/edit-page'
import { Loaded } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Tag } from '../parts/status'
import { AccountFields, accountBody, accountValues } from './cloud/account-fields'
import { invalidates, useCloudKinds } from './cloud/accounts'

/** Edits a cloud account. A new value replaces a stored secret. */
export default resourcePage({ path: '/cloud-accounts', parent: '/cloud-accounts' }, EditAccount)

function EditAccount({ resource: account }: { resource: CloudAccountView }) {
  const kinds = useCloudKinds()
  const kind = kinds.data?.data.find(one => one.kind === account.kind)
  const path = `/cloud-accounts/${account.id}`
  return (
    <Loaded query={{ ...kinds, data: kind }} parent="/cloud-accounts">
      {kind => (
        <EditPage
          resource={account}
          to={path}
          path={path}
          invalidates={invalidates}
          aside={<Tag>{kind.title}</Tag>}
          defaults={accountValues(kind, null)}
          valuesOf={opened => accountValues(kind, opened)}
          bodyOf={(values, before) => accountBody(kind, values, before)}
        >
          {opened => <AccountFields kind={kind} secretsSet={opened.secrets_set} />}
        </EditPage>
      )}
    </Loaded>
  )
}
