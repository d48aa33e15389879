import { Link } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { ActionView } from '../../features/actions/shapes'
import type { CloudAccountView } from '../../features/servers/accounts/shapes'
import { accountStatus, CheckOutcome } from '../parts/account-check'
import { Button, LinkButton } from '../parts/button'
import { CopyableText, Mono } from '../parts/code'
import { labelOf } from '../parts/labels'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { pluralize } from '../parts/plural'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { flattened } from '../parts/values'
import { usePerson } from '../session'
import { FollowedAction } from './actions/followed-action'
import { SpendFields, spendOf } from './cloud/account-fields'
import { AccountCatalog } from './cloud/account-catalog'
import { checkedAccounts, invalidates, useCloudKinds } from './cloud/accounts'
import { formatAmount } from './cloud/amounts'
import { SpendBar } from './cloud/spend-bar'
import { UnclaimedServers } from './cloud/unclaimed-servers'

const untilReadMs = 1500
// Syncs that change no server are not reported by live updates.
const refetchMs = 30_000

const isNew = ({ state, sync }: CloudAccountView) => state === 'unknown' || (state === 'ok' && sync.finished_at === null)

/** A cloud account: its status, servers, spend, and what it offers. The first check follows right after creation. */
export default resourcePage(
  {
    path: '/cloud-accounts',
    parent: '/cloud-accounts',
    refetchMs: (account: CloudAccountView) => (isNew(account) ? untilReadMs : refetchMs),
  },
  AccountPage,
)

function AccountPage({ resource: account }: { resource: CloudAccountView }) {
  const { canWrite } = usePerson()
  const [sync, setSync] = useState<string | null>(null)
  const kinds = useCloudKinds()
  const kind = kinds.data?.data.find(one => one.kind === account.kind)
  const path = `/cloud-accounts/${account.id}`
  const remove = () =>
    confirmDelete({
      noun: 'account',
      name: account.name,
      path,
      invalidates,
      next: '/cloud-accounts',
      typed: true,
      text: 'This deletes its credentials, and the servers that were found in it. Nothing changes at the cloud. You can’t delete an account while it has servers that were created here. This can’t be undone.',
    })
  return (
    <Page
      title={account.name}
      parent="/cloud-accounts"
      aside={<Status {...accountStatus(account)} />}
      actions={
        canWrite && (
          <>
            <SendButton<ActionView>
              kind="primary"
              call={{ method: 'POST', path: `${path}/sync` }}
              send={{ invalidates: ['/actions'], onSuccess: action => setSync(action.id) }}
            >
              Sync now
            </SendButton>
            <SendButton
              call={{ method: 'POST', path: `${path}/check` }}
              send={{ toast: 'Account checked', invalidates }}
              sendingLabel="Checking…"
            >
              Check now
            </SendButton>
            <LinkButton to="/cloud-accounts/$id/edit" params={{ id: account.id }} icon={Pencil}>
              Edit
            </LinkButton>
            <Button kind="danger" onClick={remove}>
              Delete
            </Button>
          </>
        )
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Card title="Status">
            {account.state === 'unknown' ? (
              <p className="text-muted">Checking for the first time…</p>
            ) : (
              <CheckOutcome {...account} state={account.state} error={account.last_error} of={checkedAccounts} />
            )}
            {account.sync.last_error && (
              <p className="mt-3 text-bad wrap-anywhere">
                The last {pluralize(account.sync.failures_in_a_row, 'sync', 'syncs')} failed: {account.sync.last_error.detail}
              </p>
            )}
          </Card>
          {sync !== null && <FollowedAction key={sync} id={sync} />}
          <Card
            title="Servers"
            facts={[
              [
                'In the workspace',
                <Link to="/servers" search={{ account_id: account.id }} className="text-accent underline">
                  {pluralize(account.counts.servers, 'server', 'servers')}
                </Link>,
              ],
              ['Not added', account.counts.unclaimed.toLocaleString()],
              ['Existing servers', <ImportMode of={account.import} />],
              ['Last sync', <RelativeTime at={account.sync.finished_at} />],
              ['Next sync', <RelativeTime at={account.sync.next_at} past="now" fallback="Not scheduled" />],
            ]}
          />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          {kind?.capabilities.has_prices && <Spend account={account} />}
          <Card
            title="Details"
            facts={[
              ['Kind', kind?.title],
              ...Object.entries(account.settings).map(([name, value]) => [labelOf(name), <Setting value={value} />] as const),
              ...account.secrets_set.map(name => [labelOf(name), <span className="text-muted">Set (not shown)</span>] as const),
              [
                'Rate limit',
                account.rate &&
                  `${account.rate.remaining.toLocaleString()} of ${account.rate.limit.toLocaleString()} requests left`,
              ],
              ['Last checked', <RelativeTime at={account.last_checked_at} />],
              ['Last healthy', <RelativeTime at={account.last_ok_at} />],
              ['Created', <RelativeTime at={account.created_at} />],
              ['ID', <CopyableText text={account.id} />],
            ]}
          />
        </div>
        {account.counts.unclaimed > 0 && <UnclaimedServers account={account} />}
        {account.state === 'ok' && <AccountCatalog account={account} />}
      </div>
    </Page>
  )
}

const importModes = { all: 'All are added', none: 'None are added' }

const ImportMode = ({ of: { mode, label_selector: selector } }: { of: CloudAccountView['import'] }) =>
  mode === 'selector' ? (
    <>
      Added if their labels match <Mono>{selector ?? ''}</Mono>
    </>
  ) : (
    importModes[mode]
  )

const Setting = ({ value }: { value: unknown }) => (
  <Mono>{typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : JSON.stringify(value)}</Mono>
)

/** What the servers cost, and the limits. */
function Spend({ account }: { account: CloudAccountView }) {
  const { canAdminister } = usePerson()
  const { spend, committed } = account
  const edit = () =>
    openForm<CloudAccountView>({
      title: 'Edit spending limits',
      submitLabel: 'Save changes',
      initial: flattened('spend', spend),
      call: values => ({
        method: 'PATCH',
        path: `/cloud-accounts/${account.id}`,
        ifMatch: account.version,
        body: { spend: spendOf(values) },
      }),
      send: { toast: 'Spending limits saved', invalidates },
      fields: <SpendFields />,
    })
  return (
    <Card
      title="Monthly spend"
      actions={
        canAdminister && (
          <Button small onClick={edit}>
            Edit limits
          </Button>
        )
      }
    >
      <div className="mb-4 text-lg font-semibold">
        <SpendBar account={account} />
      </div>
      <SpendFacts spend={spend} unpriced={committed.unpriced} />
    </Card>
  )
}

const SpendFacts = ({ spend, unpriced }: { spend: CloudAccountView['spend']; unpriced: number }) => (
  <ul className="text-muted">
    <li>
      {spend.monthly_cap === null
        ? 'There is no cap: purchases are not limited.'
        : 'Purchases that would exceed the cap are refused.'}
    </li>
    <li>
      {Number(spend.confirm_above) === 0
        ? 'Every purchase has to name the highest price it accepts.'
        : `Purchases above ${formatAmount(spend.confirm_above, spend.currency)} per month have to name the highest price they accept.`}
    </li>
    {unpriced > 0 && (
      <li className="text-warn">
        {pluralize(unpriced, 'server is', 'servers are')} not included, because the price is not known.
      </li>
    )}
  </ul>
)
