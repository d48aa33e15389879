import { useState } from 'react'
import type { DnsProviderKindView, DnsProviderView } from '../../features/dns/accounts/shapes'
import { accountStatus, CheckOutcome } from '../parts/account-check'
import { Button } from '../parts/button'
import { CopyableText } from '../parts/code'
import { confirmDelete } from '../parts/open-dialog'
import { Card, Facts, Page } from '../parts/page'
import { labelOf } from '../parts/labels'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { checkedProviders } from './dns/providers/checked-providers'
import { EditProvider } from './dns/providers/edit-provider'
import { ProviderZones } from './dns/providers/provider-zones'

const untilCheckedMs = 1500

/** A provider: its status, settings, and zones. The first check follows right after creation; poll for its result. */
export default resourcePage(
  { path: '/dns/providers', parent: '/dns/providers', refetchMs: ({ state }) => state === 'unknown' && untilCheckedMs },
  ProviderPage,
)

function ProviderPage({ resource: provider }: { resource: DnsProviderView }) {
  const { canWrite } = usePerson()
  const [isEditing, setEditing] = useState(false)
  const path = `/dns/providers/${provider.id}`
  const kinds = useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')
  const kind = kinds.data?.data.find(one => one.kind === provider.kind)
  const remove = () =>
    confirmDelete({
      noun: 'provider',
      name: provider.name,
      path,
      invalidates: ['/dns/providers'],
      next: '/dns/providers',
      typed: true,
      text: 'This deletes its credentials. Zones at the provider are not changed. You can’t delete a provider while zones are synced to it. This can’t be undone.',
    })
  return (
    <Page
      title={provider.name}
      parent="/dns/providers"
      aside={<Status {...accountStatus(provider)} />}
      actions={
        canWrite && (
          <>
            <SendButton
              call={{ method: 'POST', path: `${path}/check` }}
              send={{ toast: 'Provider checked', invalidates: ['/dns/providers'] }}
              sendingLabel="Checking…"
            >
              Check now
            </SendButton>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <Button kind="danger" onClick={remove}>
              Delete
            </Button>
          </>
        )
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title="Status">
          {provider.state === 'unknown' ? (
            <p className="text-muted">Checking for the first time…</p>
          ) : (
            <CheckOutcome {...provider} state={provider.state} error={provider.last_error} of={checkedProviders} />
          )}
          <div className="mt-4">
            <Facts
              rows={[
                ['Last checked', <RelativeTime at={provider.last_checked_at} />],
                ['Last healthy', <RelativeTime at={provider.last_ok_at} />],
                ['Type', kind?.title],
                ['ID', <CopyableText text={provider.id} />],
              ]}
            />
          </div>
        </Card>
        <Card title="Settings">
          {isEditing && kind ? (
            <EditProvider provider={provider} kind={kind} onEnd={() => setEditing(false)} />
          ) : (
            <Facts
              rows={[
                ...Object.entries(provider.settings).map(([name, value]) => [labelOf(name), <Setting value={value} />] as const),
                ...provider.secrets_set.map(
                  name => [labelOf(name), <span className="text-muted">Set (not shown)</span>] as const,
                ),
              ]}
            />
          )}
        </Card>
        <ProviderZones provider={provider} />
      </div>
    </Page>
  )
}

const Setting = ({ value }: { value: unknown }) => (
  <code className="font-mono text-[13px] whitespace-pre-wrap">
    {Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value)}
  </code>
)
