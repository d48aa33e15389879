import type { WebhookDeliveryDetail } from '../../features/webhooks/deliveries/shapes'
import { CopyableText } from '../parts/code'
import { Menu } from '../parts/menu'
import { confirm } from '../parts/open-dialog'
import { labelOf } from '../parts/labels'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ExpandedLink } from '../parts/resource'
import { SendButton } from '../parts/send-button'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { usePerson } from '../session'
import { Attempt } from './webhooks/attempt'

const refreshMs = 3000
const query = { expand: 'endpoint,resource' }

/** Shows a delivery with all its attempts. */
export default resourcePage({ path: '/webhook-deliveries', parent: '/webhooks/deliveries', query, refetchMs: refreshMs }, Shown)

function Shown({ resource: delivery }: { resource: WebhookDeliveryDetail }) {
  const { canWrite } = usePerson()
  const path = `/webhook-deliveries/${delivery.id}`
  const invalidates = ['/webhook-deliveries', '/webhook-endpoints', '/overview']
  const expunge = () =>
    confirm({
      title: 'Remove responses?',
      text: 'This deletes the response headers and bodies from the log, for example if they contain sensitive data, and the body of a test message. This can’t be undone.',
      action: 'Remove responses',
      call: { method: 'POST', path: `${path}/expunge` },
      send: { toast: 'Responses removed', invalidates },
    })
  return (
    <Page
      title={delivery.event}
      parent="/webhooks/deliveries"
      aside={<Status status={delivery.status} />}
      actions={
        canWrite && (
          <>
            <SendButton
              kind="primary"
              call={{ method: 'POST', path: `${path}/resend` }}
              send={{ toast: 'Resending delivery', invalidates }}
            >
              Resend
            </SendButton>
            <Menu
              label="More actions"
              items={[{ label: 'Remove responses', danger: true, disabled: delivery.expunged_at !== null, onSelect: expunge }]}
            />
          </>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-[20rem_1fr] lg:items-start">
        <Card
          title="Details"
          facts={[
            [
              'Endpoint',
              <ExpandedLink id={delivery.endpoint_id} type="webhook_endpoint" resource={delivery.expanded?.endpoint} />,
            ],
            [
              'Resource',
              delivery.resource && <ExpandedLink {...delivery.resource} resource={delivery.expanded?.resource} withType />,
            ],
            ['Event time', <RelativeTime at={delivery.occurred_at} />],
            ['Sequence', delivery.sequence],
            ['Attempts', delivery.attempt_count],
            ['Next attempt', delivery.next_attempt_at && <RelativeTime at={delivery.next_attempt_at} />],
            ['Reason', delivery.reason === null ? null : labelOf(delivery.reason)],
            ['Finished', delivery.finished_at && <RelativeTime at={delivery.finished_at} />],
            ['Endpoint ID', <CopyableText text={delivery.endpoint_id} />],
            ['Resource ID', delivery.resource && <CopyableText text={delivery.resource.id} />],
            ['Event ID', delivery.event_id && <CopyableText text={delivery.event_id} />],
            ['Message ID', <CopyableText text={delivery.message_id} />],
            ['ID', <CopyableText text={delivery.id} />],
          ]}
        />
        <div className="flex min-w-0 flex-col gap-4">
          {delivery.attempts.length === 0 && (
            <Card title="Attempts">
              <p className="text-muted">No attempts yet.</p>
            </Card>
          )}
          {[...delivery.attempts].reverse().map((attempt, at) => (
            <Attempt key={attempt.id} attempt={attempt} isOpen={at === 0} />
          ))}
        </div>
      </div>
    </Page>
  )
}
