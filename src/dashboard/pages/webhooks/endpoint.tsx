import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { WebhookEndpointView } from '../../../features/webhooks/shapes'
import type { WebhookDeliveryDetail } from '../../../features/webhooks/delivery-shapes'
import { Button } from '../../parts/button'
import { Confirm } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { Card, Loaded, Page, Skeleton } from '../../parts/page'
import { Status } from '../../parts/status'
import { Tabs } from '../../parts/tabs'
import { toast } from '../../parts/toast'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { Deliveries } from './delivery-table'
import { EndpointForm } from './endpoint-form'
import { Health } from './health'
import { Recover, Secret } from './endpoint-dialogs'
import { disabledBecause, stateOf } from './endpoint-words'

const SignatureHelp = lazy(() => import('./signature-help'))
const up = { to: '/webhooks', label: 'Webhooks' }

/** One endpoint: how it stands, what it was sent, and what can be done about it. */
export default function Endpoint() {
  const { id } = useParams({ strict: false })
  const found = useOne<WebhookEndpointView>(`/webhook-endpoints/${id}`)
  return (
    <Loaded found={found} up={up}>
      {endpoint => <Shown endpoint={endpoint} />}
    </Loaded>
  )
}

type Asked = 'delete' | 'recover' | 'secret' | null

function Shown({ endpoint }: { endpoint: WebhookEndpointView }) {
  const { tab = 'deliveries' }: { tab?: string } = useParams({ strict: false })
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<Asked>(null)
  const path = `/webhook-endpoints/${endpoint.id}`
  const stale = ['/webhook-endpoints', '/webhook-deliveries', '/overview']
  const test = useSend<WebhookDeliveryDetail>({
    stale,
    onDone: made => {
      const [attempt] = made.attempts
      if (made.status === 'delivered') toast.done(`Taken with ${attempt?.status_code} after ${attempt?.duration_ms} ms`)
      else toast.failed(new Error(attempt?.error_message ?? `The message is ${made.status}.`))
    },
  })
  const enable = useSend({ done: 'It is sent to again', stale })
  const pause = useSend({
    done: endpoint.active ? 'Paused: what happens is held' : 'It is sent to again',
    undo: () => ({ method: 'PATCH', path, body: { active: endpoint.active } }),
    stale,
  })
  const save = useSend({ quiet: true, done: 'Endpoint saved', stale })
  const remove = useSend({ done: 'Endpoint deleted', stale, onDone: () => void navigate({ to: '/webhooks' }) })
  const close = () => setAsked(null)
  return (
    <Page
      title={endpoint.description || endpoint.url}
      up={up}
      aside={<Status {...stateOf(endpoint)} />}
      lead={endpoint.description ? endpoint.url : undefined}
      actions={
        mayWrite && (
          <>
            {endpoint.status === 'disabled' && (
              <Button
                kind="main"
                disabled={enable.isPending}
                onClick={() => enable.mutate({ method: 'POST', path: `${path}/enable`, body: {} })}
              >
                Enable
              </Button>
            )}
            <Button disabled={test.isPending} onClick={() => test.mutate({ method: 'POST', path: `${path}/test`, body: {} })}>
              {test.isPending ? 'Sending…' : 'Send a test'}
            </Button>
            <Menu
              label="More"
              items={[
                {
                  label: endpoint.active ? 'Pause' : 'Go on',
                  onSelect: () => pause.mutate({ method: 'PATCH', path, body: { active: !endpoint.active } }),
                },
                { label: 'Send again what did not arrive', onSelect: () => setAsked('recover') },
                { label: 'Change the secret', onSelect: () => setAsked('secret') },
                '-',
                { label: 'Delete', bad: true, onSelect: () => setAsked('delete') },
              ]}
            />
          </>
        )
      }
    >
      {endpoint.status === 'disabled' && (
        <p className="mb-4 rounded-md bg-bad-soft p-3 text-bad">
          The hub stopped sending: {disabledBecause[endpoint.disabled_reason ?? ''] ?? endpoint.disabled_reason} What happens
          meanwhile is held.
        </p>
      )}
      <Tabs
        label="Endpoint"
        tabs={[
          { to: `/webhooks/${endpoint.id}`, label: 'Deliveries', exact: true },
          { to: `/webhooks/${endpoint.id}/settings`, label: 'Settings' },
          { to: `/webhooks/${endpoint.id}/signature`, label: 'Check the signature' },
        ]}
      />
      {tab === 'settings' ? (
        <Card className="max-w-2xl">
          <EndpointForm
            key={endpoint.version}
            endpoint={endpoint}
            send={save.mutateAsync}
            pending={save.isPending}
            onCancel={() => void navigate({ to: `/webhooks/${endpoint.id}` })}
          />
        </Card>
      ) : tab === 'signature' ? (
        <Suspense fallback={<Skeleton />}>
          <SignatureHelp />
        </Suspense>
      ) : (
        <>
          <Health endpoint={endpoint} />
          <Deliveries endpointId={endpoint.id} />
        </>
      )}
      <Recover open={asked === 'recover'} onClose={close} endpoint={endpoint} />
      <Secret open={asked === 'secret'} onClose={close} endpoint={endpoint} />
      <Confirm
        open={asked === 'delete'}
        onClose={close}
        title="Delete the endpoint?"
        action="Delete endpoint"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        It is told nothing more, and what waits for it is dropped. Its log stays as long as the plan says.
      </Confirm>
    </Page>
  )
}
