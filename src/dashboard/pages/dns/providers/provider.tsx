import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { DnsProviderKindView, DnsProviderView } from '../../../../features/dns/accounts/shapes'
import { Button } from '../../../parts/button'
import { Copied } from '../../../parts/code'
import { Confirm } from '../../../parts/dialog'
import { Card, Facts, Loaded, Page } from '../../../parts/page'
import { Status, wordsOf } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { CheckOutcome } from './check-outcome'
import { EditProvider } from './edit-provider'
import { ProviderZones } from './provider-zones'
import { stateOf } from './provider-words'

const up = { to: '/dns/providers', label: 'Providers' }
const untilCheckedMs = 1500

/** One provider: how it does, its settings, and the zones that are there. */
export default function Provider() {
  const { id } = useParams({ strict: false })
  const known = useOne<DnsProviderView>(`/dns/providers/${id}`)
  // The first check follows at once, and nothing tells when it was made.
  const found = useOne<DnsProviderView>(
    `/dns/providers/${id}`,
    {},
    known.data?.state === 'unknown' ? { everyMs: untilCheckedMs } : {},
  )
  return (
    <Loaded found={found} up={up}>
      {provider => <Shown provider={provider} />}
    </Loaded>
  )
}

function Shown({ provider }: { provider: DnsProviderView }) {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [isEditing, setEditing] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const path = `/dns/providers/${provider.id}`
  const kinds = useOne<{ data: DnsProviderKindView[] }>('/dns/provider-kinds')
  const kind = kinds.data?.data.find(one => one.kind === provider.kind)
  const check = useSend<DnsProviderView>({ done: 'It was checked', stale: ['/dns/providers'] })
  const remove = useSend({
    done: 'Provider deleted',
    stale: ['/dns/providers'],
    onDone: () => void navigate({ to: '/dns/providers' }),
  })
  return (
    <Page
      title={provider.name}
      up={up}
      aside={<Status {...stateOf(provider)} />}
      actions={
        mayWrite && (
          <>
            <Button disabled={check.isPending} onClick={() => check.mutate({ method: 'POST', path: `${path}/check` })}>
              {check.isPending ? 'Asking…' : 'Check now'}
            </Button>
            <Button onClick={() => setEditing(true)}>Edit</Button>
            <Button kind="bad" onClick={() => setAsking(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <Card title="How it does">
          {provider.state === 'unknown' ? (
            <p className="text-muted">It is being asked for the first time.</p>
          ) : (
            <CheckOutcome {...provider} state={provider.state} error={provider.last_error} />
          )}
          <div className="mt-4">
            <Facts
              rows={[
                ['Checked', <Ago at={provider.last_checked_at} />],
                ['Last fine', <Ago at={provider.last_ok_at} />],
                ['Kind', kind?.title ?? provider.kind],
                ['Id', <Copied text={provider.id} />],
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
                ...Object.entries(provider.settings).map(([name, value]) => [wordsOf(name), <Setting value={value} />] as const),
                ...provider.secrets_set.map(
                  name => [wordsOf(name), <span className="text-muted">kept, and shown nowhere</span>] as const,
                ),
              ]}
            />
          )}
        </Card>
        <ProviderZones provider={provider} />
      </div>
      <Confirm
        open={isAsking}
        onClose={() => setAsking(false)}
        title={`Delete ${provider.name}?`}
        action="Delete provider"
        typed={provider.name}
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        Its secrets are forgotten. What is kept there stays there. A provider that a zone is kept at cannot be deleted.
      </Confirm>
    </Page>
  )
}

const Setting = ({ value }: { value: unknown }) => (
  <code className="font-mono text-[13px] whitespace-pre-wrap">
    {Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value)}
  </code>
)
