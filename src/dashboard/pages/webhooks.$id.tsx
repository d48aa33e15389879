import { useNavigate, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { WebhookEndpointView } from '../../features/webhooks/endpoints/shapes'
import type { WebhookDeliveryDetail } from '../../features/webhooks/deliveries/shapes'
import { Button } from '../parts/button'
import { Confirm } from '../parts/dialog'
import { List } from '../parts/list'
import { Menu } from '../parts/menu'
import { Card, Page, Skeleton } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Status } from '../parts/status'
import { Tabs } from '../parts/tabs'
import { toast } from '../parts/toast'
import { useSend } from '../queries'
import { usePerson } from '../session'
import { useDeliveryList } from './webhooks/delivery-table'
import { EndpointForm } from './webhooks/endpoint-form'
import { Health } from './webhooks/health'
import { Recover, Secret } from './webhooks/endpoint-dialogs'
import { disabledReasons, endpointStatus } from './webhooks/endpoint-status'

const SignatureHelp = lazy(() => import('./webhooks/signature-help'))
/** Shows an endpoint with its health, deliveries, and settings. */
export default resourcePage<WebhookEndpointView>({ path: '/webhook-endpoints', parent: '/webhooks' }, endpoint => (
  <Shown endpoint={endpoint} />
))

type OpenDialog = 'delete' | 'recover' | 'secret' | null

function Shown({ endpoint }: { endpoint: WebhookEndpointView }) {
  const { tab = 'deliveries' }: { tab?: string } = useParams({ strict: false })
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const path = `/webhook-endpoints/${endpoint.id}`
  const deliveries = useDeliveryList(endpoint.id)
  const invalidates = ['/webhook-endpoints', '/webhook-deliveries', '/overview']
  const test = useSend<WebhookDeliveryDetail>({
    invalidates,
    onSuccess: delivery => {
      const [attempt] = delivery.attempts
      if (delivery.status === 'delivered')
        toast.success(`Test message delivered (status ${attempt?.status_code}, ${attempt?.duration_ms} ms)`)
      else toast.error(new Error(attempt?.error_message ?? 'The test message was not delivered.'))
    },
  })
  const enable = useSend({ toast: 'Endpoint enabled', invalidates })
  const pause = useSend({
    toast: endpoint.active ? 'Endpoint paused. Events are held until you resume.' : 'Endpoint resumed',
    undo: () => ({ method: 'PATCH', path, body: { active: endpoint.active } }),
    invalidates,
  })
  const save = useSend({ quiet: true, toast: 'Endpoint saved', invalidates })
  const close = () => setDialog(null)
  return (
    <Page
      title={endpoint.description || endpoint.url}
      parent="/webhooks"
      aside={<Status {...endpointStatus(endpoint)} />}
      description={endpoint.description ? endpoint.url : undefined}
      actions={
        canWrite && (
          <>
            {endpoint.status === 'disabled' && (
              <Button
                kind="primary"
                disabled={enable.isPending}
                onClick={() => enable.mutate({ method: 'POST', path: `${path}/enable`, body: {} })}
              >
                Enable
              </Button>
            )}
            <Button disabled={test.isPending} onClick={() => test.mutate({ method: 'POST', path: `${path}/test`, body: {} })}>
              {test.isPending ? 'Sending…' : 'Send test message'}
            </Button>
            <Menu
              label="More actions"
              items={[
                {
                  label: endpoint.active ? 'Pause' : 'Resume',
                  onSelect: () => pause.mutate({ method: 'PATCH', path, body: { active: !endpoint.active } }),
                },
                { label: 'Recover failed deliveries', onSelect: () => setDialog('recover') },
                { label: 'Rotate secret', onSelect: () => setDialog('secret') },
                '-',
                { label: 'Delete', danger: true, onSelect: () => setDialog('delete') },
              ]}
            />
          </>
        )
      }
    >
      {endpoint.status === 'disabled' && (
        <p className="mb-4 rounded-md bg-bad-soft p-3 text-bad">
          This endpoint was disabled automatically: {disabledReasons[endpoint.disabled_reason ?? ''] ?? endpoint.disabled_reason}{' '}
          New deliveries are held.
        </p>
      )}
      <Tabs
        label="Endpoint"
        tabs={[
          { to: `/webhooks/${endpoint.id}`, label: 'Deliveries', exact: true },
          { to: `/webhooks/${endpoint.id}/settings`, label: 'Settings' },
          { to: `/webhooks/${endpoint.id}/signature`, label: 'Verify signatures' },
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
          <List {...deliveries} />
        </>
      )}
      <Recover open={dialog === 'recover'} onClose={close} endpoint={endpoint} />
      <Secret open={dialog === 'secret'} onClose={close} endpoint={endpoint} />
      <Confirm
        open={dialog === 'delete'}
        onClose={close}
        title="Delete endpoint?"
        confirmLabel="Delete endpoint"
        call={() => ({ method: 'DELETE', path })}
        send={{ toast: 'Endpoint deleted', invalidates, onSuccess: () => void navigate({ to: '/webhooks' }) }}
      >
        Events are no longer sent to this URL, and unfinished deliveries are canceled. The delivery log is kept for your plan’s
        retention period.
      </Confirm>
    </Page>
  )
}
