import { useNavigate, useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import type { WebhookEndpointView } from '../../features/webhooks/endpoints/shapes'
import type { WebhookDeliveryDetail } from '../../features/webhooks/deliveries/shapes'
import { lazyComponent } from '../lazy'
import { Button } from '../parts/button'
import { List } from '../parts/list'
import { Menu } from '../parts/menu'
import { confirmDelete } from '../parts/open-dialog'
import { Card, Page, Skeleton } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Tabs } from '../parts/tabs'
import { toast } from '../parts/toast'
import { useSend } from '../queries'
import { usePerson } from '../session'
import { useDeliveryList } from './webhooks/delivery-table'
import { EndpointForm } from './webhooks/endpoint-form'
import { Health } from './webhooks/health'
import { enableEndpoint, recoverDeliveries, rotateSecret } from './webhooks/endpoint-dialogs'
import { disabledReasons, EndpointStatus } from './webhooks/endpoint-status'

const SignatureHelp = lazyComponent(() => import('./webhooks/signature-help'))
/** Shows an endpoint with its health, deliveries, and settings. */
export default resourcePage({ path: '/webhook-endpoints', parent: '/webhooks' }, Shown)

function Shown({ resource: endpoint }: { resource: WebhookEndpointView }) {
  const { tab = 'deliveries' }: { tab?: string } = useParams({ strict: false })
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const path = `/webhook-endpoints/${endpoint.id}`
  const deliveries = useDeliveryList(endpoint.id)
  const invalidates = ['/webhook-endpoints', '/webhook-deliveries', '/overview']
  const toggle = useSend({
    toast: endpoint.active ? 'Endpoint deactivated. Deliveries are held until you activate it.' : 'Endpoint activated',
    undo: () => ({ method: 'PATCH', path, body: { active: endpoint.active } }),
    invalidates,
  })
  const remove = () =>
    confirmDelete({
      noun: 'endpoint',
      path,
      invalidates,
      next: '/webhooks',
      text: 'Events are no longer sent to this URL, and unfinished deliveries are canceled. The delivery log is kept for the retention period of your plan. This can’t be undone.',
    })
  return (
    <Page
      title={endpoint.description || endpoint.url}
      parent="/webhooks"
      aside={<EndpointStatus endpoint={endpoint} />}
      description={endpoint.description ? endpoint.url : undefined}
      actions={
        canWrite && (
          <>
            {endpoint.status === 'disabled' && (
              <Button kind="primary" onClick={() => enableEndpoint(endpoint, invalidates)}>
                Enable
              </Button>
            )}
            <SendButton<WebhookDeliveryDetail>
              call={{ method: 'POST', path: `${path}/test`, body: {} }}
              send={{ invalidates, onSuccess: reportTest }}
              sendingLabel="Sending…"
            >
              Send test message
            </SendButton>
            <Menu
              label="More actions"
              items={[
                // Activating doesn’t enable an endpoint that was disabled automatically.
                endpoint.active || endpoint.status === 'enabled'
                  ? {
                      label: endpoint.active ? 'Deactivate' : 'Activate',
                      onSelect: () => toggle.mutate({ method: 'PATCH', path, body: { active: !endpoint.active } }),
                    }
                  : null,
                {
                  label: 'Recover failed deliveries',
                  onSelect: () => recoverDeliveries(endpoint, id => void navigate({ to: `/actions/${id}` })),
                },
                { label: 'Rotate secret', onSelect: () => rotateSecret(endpoint) },
                '-',
                { label: 'Delete', danger: true, onSelect: remove },
              ]}
            />
          </>
        )
      }
    >
      {endpoint.status === 'disabled' && (
        <p className="mb-4 rounded-md bg-bad-soft p-3 text-bad">
          This endpoint was disabled automatically: {disabledReasons[endpoint.disabled_reason ?? ''] ?? endpoint.disabled_reason}{' '}
          New deliveries are held until it is enabled.
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
            send={{ toast: 'Endpoint saved', invalidates }}
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
    </Page>
  )
}

function reportTest({ status, attempts: [attempt] }: WebhookDeliveryDetail): void {
  if (status === 'delivered') toast.success(`Test message delivered (status ${attempt?.status_code}, ${attempt?.duration_ms} ms)`)
  else toast.error(new Error(attempt?.error_message ?? 'The test message was not delivered.'))
}
