import { Link } from '@tanstack/react-router'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import type { ActionView } from '../../features/actions/shapes'
import type { RegistrarAccountView } from '../../features/registrars/shapes'
import { accountStatus, CheckOutcome } from '../parts/account-check'
import { Button, LinkButton } from '../parts/button'
import { CopyableText, Mono } from '../parts/code'
import { labelOf } from '../parts/labels'
import { confirmDelete } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { pluralize } from '../parts/plural'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { FollowedAction } from './actions/followed-action'
import { AccountDomains } from './registrars/account-domains'
import { checkedAccounts, invalidates, useRegistrarKinds } from './registrars/accounts'
import { PurchaseLimits } from './registrars/purchase-limits'

const untilReadMs = 1500
// Syncs that change no domain are not reported by live updates.
const refetchMs = 30_000

const isNew = ({ state, last_sync_at: read, sync_error: error }: RegistrarAccountView) =>
  state === 'unknown' || (state === 'ok' && read === null && error === null)

/** A registrar account: its status, purchase limits, and domains. The first check follows right after creation. */
export default resourcePage(
  {
    path: '/registrar-accounts',
    parent: '/registrar-accounts',
    refetchMs: (account: RegistrarAccountView) => (isNew(account) ? untilReadMs : refetchMs),
  },
  AccountPage,
)

function AccountPage({ resource: account }: { resource: RegistrarAccountView }) {
  const { canWrite } = usePerson()
  const [sync, setSync] = useState<string | null>(null)
  const kinds = useRegistrarKinds()
  const kind = kinds.data?.data.find(one => one.kind === account.kind)
  const path = `/registrar-accounts/${account.id}`
  const remove = () =>
    confirmDelete({
      noun: 'account',
      name: account.name,
      path,
      invalidates,
      next: '/registrar-accounts',
      typed: true,
      text: 'This deletes its credentials. Its domains stay in the workspace. Nothing changes at the registrar. This can’t be undone.',
    })
  return (
    <Page
      title={account.name}
      parent="/registrar-accounts"
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
            <LinkButton to="/registrar-accounts/$id/edit" params={{ id: account.id }} icon={Pencil}>
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
            {account.sync_error && (
              <p className="mt-3 text-bad wrap-anywhere">The last sync failed: {account.sync_error.detail}</p>
            )}
          </Card>
          {sync !== null && <FollowedAction key={sync} id={sync} />}
          <Card
            title="Sync"
            facts={[
              [
                'Domains',
                <Link to="/domains" search={{ registrar_account_id: account.id }} className="text-accent underline">
                  {pluralize(account.domain_count, 'domain', 'domains')}
                </Link>,
              ],
              ['New domains', account.manage_new === 'track' ? 'Added to the workspace' : 'Not added'],
              ['Last sync', <RelativeTime at={account.last_sync_at} />],
              ['Next sync', <RelativeTime at={account.next_sync_at} past="now" fallback="Not scheduled" />],
            ]}
          />
          <PurchaseLimits account={account} />
        </div>
        <Card
          title="Details"
          facts={[
            ['Registrar', kind?.title],
            ...Object.entries(account.settings).map(([name, value]) => [labelOf(name), <Mono>{String(value)}</Mono>] as const),
            ...account.secrets_set.map(name => [labelOf(name), <span className="text-muted">Set (not shown)</span>] as const),
            ['Through its API', account.capabilities.map(one => labelOf(one)).join(', ')],
            ['Last checked', <RelativeTime at={account.last_checked_at} />],
            ['Last healthy', <RelativeTime at={account.last_ok_at} />],
            ['Created', <RelativeTime at={account.created_at} />],
            ['ID', <CopyableText text={account.id} />],
          ]}
        />
        <AccountDomains account={account} />
      </div>
    </Page>
  )
}
