import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { CloudAccountView, CloudKindView } from '../../features/servers/accounts/shapes'
import type { ServerView } from '../../features/servers/shapes'
import { Advanced } from '../parts/advanced'
import { Card, Loaded, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { useAccounts, useCloudKinds } from './cloud/accounts'
import { OrderFields, OrderGroups, orderBody, orderValues } from './cloud/order-fields'
import { ManualFields, manualValues, NameField, OrganizationFields, serverBody, serverValues } from './cloud/server-fields'
import { invalidates } from './cloud/server-text'
import { GuardedForm } from './cloud/guarded-form'
import { WithCatalog } from './cloud/with-catalog'

/** Edits a server: labels, monitors, and notes, what is known of one without an account, and the order of a draft. */
export default resourcePage<ServerView>({ path: '/servers', parent: '/servers' }, ({ resource: server }) =>
  server.status === 'draft' ? <EditDraft server={server} /> : <EditServer server={server} order={null} />,
)

interface Ordered {
  account: CloudAccountView
  kind: CloudKindView
}

function EditDraft({ server }: { server: ServerView }) {
  const accounts = useAccounts()
  const kinds = useCloudKinds()
  const account = accounts.data?.data.find(one => one.id === server.account_id)
  const kind = kinds.data?.data.find(one => one.kind === account?.kind)
  return (
    <Loaded query={{ ...accounts, data: account && kind && { account, kind } }} parent="/servers">
      {order => <EditServer server={server} order={order} />}
    </Loaded>
  )
}

function EditServer({ server, order }: { server: ServerView; order: Ordered | null }) {
  const isManual = server.account_id === null
  const path = `/servers/${server.id}`
  const valuesOf = (one: ServerView | null) => ({
    ...serverValues(one),
    ...(isManual && manualValues(one)),
    ...(order && orderValues(one?.order ?? null)),
  })
  const names = Object.keys({ ...serverValues(null), ...(isManual && manualValues(null)) })
  const navigate = useNavigate()
  const [opened] = useState(server)
  const [before] = useState(() => valuesOf(opened))
  const back = () => void navigate({ to: path })
  return (
    <Page title={`Edit ${opened.name}`} parent={{ to: path, label: opened.name }}>
      <Card className="max-w-5xl">
        <GuardedForm<ServerView>
          initial={before}
          defaults={valuesOf(null)}
          callFor={values => ({
            method: 'PATCH',
            path,
            ifMatch: opened.version,
            body: { ...serverBody(values, before, names), ...(order && orderBody(values, before)) },
          })}
          submitLabel="Save changes"
          overrideLabel="Override and save"
          title="Changes saved"
          more={invalidates}
          onCancel={back}
          onStart={back}
        >
          {order ? (
            <WithCatalog accountId={order.account.id}>
              <NameField />
              <OrderFields {...order} hasUserData={server.user_data_set} />
              <Advanced>
                <OrderGroups {...order} />
              </Advanced>
              <OrganizationFields />
            </WithCatalog>
          ) : (
            <>
              {isManual && (
                <>
                  <NameField />
                  <ManualFields />
                </>
              )}
              <OrganizationFields />
            </>
          )}
        </GuardedForm>
      </Card>
    </Page>
  )
}
