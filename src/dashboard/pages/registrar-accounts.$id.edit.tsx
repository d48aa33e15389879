import type { RegistrarAccountView } from '../../features/registrars/shapes'
import { EditPage } from '../parts/edit-page'
import { Loaded } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Tag } from '../parts/status'
import { AccountFields } from './registrars/account-fields'
import { accountBody, accountValues, invalidates, useRegistrarKinds } from './registrars/accounts'

/** Edits a registrar account. A new value replaces a stored secret. */
export default resourcePage({ path: '/registrar-accounts', parent: '/registrar-accounts' }, EditAccount)

function EditAccount({ resource: account }: { resource: RegistrarAccountView }) {
  const kinds = useRegistrarKinds()
  const kind = kinds.data?.data.find(one => one.kind === account.kind)
  const path = `/registrar-accounts/${account.id}`
  return (
    <Loaded query={{ ...kinds, data: kind }} parent="/registrar-accounts">
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
