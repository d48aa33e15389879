import { useNavigate } from '@tanstack/react-router'
import { Cloud } from 'lucide-react'
import { useRef } from 'react'
import type { CloudAccountView, CloudKindView } from '../../features/servers/accounts/shapes'
import type { ServerQuoteView, ServerView } from '../../features/servers/shapes'
import { Advanced, Group } from '../parts/advanced'
import { LinkButton } from '../parts/button'
import { Empty } from '../parts/empty'
import { CheckboxField, Form, type Values } from '../parts/form'
import { Select } from '../parts/input'
import { Card, Loaded, Page } from '../parts/page'
import { useUrlState } from '../parts/url-state'
import { useAccounts, useCloudKinds } from './cloud/accounts'
import { OrderFields, OrderGroups, orderBody, orderValues } from './cloud/order-fields'
import { OrderQuote } from './cloud/order-quote'
import { MonitorField, NameField, OrganizationFields, serverBody, serverValues } from './cloud/server-fields'
import { invalidates } from './cloud/server-text'
import { acceptedPrice } from './cloud/use-quote'
import { WithCatalog } from './cloud/with-catalog'

/** Creates a server at a cloud. The price is shown all the time. */
export default function NewServer() {
  const accounts = useAccounts()
  const kinds = useCloudKinds()
  const [{ account: chosen }, set] = useUrlState({ account: '' })
  // Accounts that are added meanwhile may be listed before it.
  const preselected = useRef<string>(undefined)
  preselected.current ??= accounts.data?.data[0]?.id
  const loaded = { ...accounts, data: accounts.data && kinds.data && { accounts: accounts.data.data, kinds: kinds.data.data } }
  return (
    <Loaded query={loaded} parent="/servers">
      {({ accounts, kinds }) => {
        const account = accounts.find(one => one.id === (chosen || preselected.current)) ?? accounts[0]
        const kind = kinds.find(one => one.kind === account?.kind)
        return (
          <Page parent="/servers">
            {account && kind ? (
              <>
                <label className="mb-4 block max-w-md">
                  <span className="mb-1 block font-medium">Cloud account</span>
                  <Select
                    value={account.id}
                    onText={id => set({ account: id })}
                    choices={accounts.map(one => [one.id, one.name] as const)}
                  />
                </label>
                <WithCatalog accountId={account.id}>
                  <NewAt key={account.id} account={account} kind={kind} />
                </WithCatalog>
              </>
            ) : (
              <Card>
                <Empty
                  icon={Cloud}
                  title="No cloud accounts yet"
                  action={
                    <LinkButton to="/cloud-accounts/new" kind="primary">
                      Connect a cloud
                    </LinkButton>
                  }
                >
                  Servers are created in an account at a cloud, or on a hypervisor of your own.
                </Empty>
              </Card>
            )}
          </Page>
        )
      }}
    </Loaded>
  )
}

interface NewAtProps {
  account: CloudAccountView
  kind: CloudKindView
}

const ownFields = ['name', 'labels', 'health_monitor_ids', 'notes']

function NewAt({ account, kind }: NewAtProps) {
  const navigate = useNavigate()
  const shown = useRef<ServerQuoteView | null>(null)
  const initial = {
    ...serverValues(null),
    ...orderValues(null),
    ...{ draft: false, monitor: true, enroll_agent: false, accept_unknown_price: false },
  }
  const bodyOf = (values: Values): Values => ({
    name: values.name,
    account_id: account.id,
    ...orderBody(values, null),
    ...serverBody(values, serverValues(null), ownFields.slice(1)),
    ...(values.enroll_agent === true && !values.draft && { enroll_agent: true }),
  })
  return (
    <Form<ServerView>
      initial={initial}
      call={values => ({
        method: 'POST',
        path: '/servers',
        body: {
          ...bodyOf(values),
          ...(values.monitor === false && { monitor: false }),
          ...(values.draft ? { provision: false } : acceptedPrice(shown.current)),
          ...(values.accept_unknown_price === true && { accept_unknown_price: true }),
        },
      })}
      send={{ invalidates, onSuccess: server => void navigate({ to: `/servers/${server.id}` }) }}
      onCancel={() => void navigate({ to: '/servers' })}
      submitLabel="Create server"
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Card>
          <div className="flex flex-col gap-4">
            <NameField />
            <OrderFields account={account} kind={kind} />
            <Advanced>
              <OrderGroups account={account} kind={kind} />
              <Group label="Organization">
                <OrganizationFields />
              </Group>
            </Advanced>
            <MonitorField />
            {kind.capabilities.user_data && (
              <CheckboxField
                name="enroll_agent"
                label="Install the agent"
                hint="Its user data installs the agent when it starts for the first time. Not for drafts."
              />
            )}
            <CheckboxField
              name="draft"
              label="Only save it as a draft"
              hint="Nothing is bought until you create it at the cloud later."
            />
          </div>
        </Card>
        <div className="sticky bottom-16 z-10 md:bottom-4 lg:top-16">
          <OrderQuote
            body={values => ({ ...bodyOf(values), name: values.name || placeholderName })}
            kind={kind}
            onQuote={quote => {
              shown.current = quote
            }}
          />
        </div>
      </div>
    </Form>
  )
}

// The price doesn’t depend on the name.
const placeholderName = 'server'
