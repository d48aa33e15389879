import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { WebhookDeliveryDetail } from '../../../features/webhooks/delivery-shapes'
import { Button } from '../../parts/button'
import { Copied } from '../../parts/code'
import { Confirm } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { Attempt } from './attempt'
import { deliveryMood } from './endpoint-words'

const up = { to: '/webhooks/deliveries', label: 'Deliveries' }
const lookMs = 3000

/** One message on its way to one endpoint: every try, what was sent and what came back. */
export default function Delivery() {
  const { id } = useParams({ strict: false })
  const found = useOne<WebhookDeliveryDetail>(`/webhook-deliveries/${id}`, {}, { everyMs: lookMs })
  return (
    <Loaded found={found} up={up}>
      {delivery => <Shown delivery={delivery} />}
    </Loaded>
  )
}

function Shown({ delivery }: { delivery: WebhookDeliveryDetail }) {
  const { mayWrite } = usePerson()
  const [asking, setAsking] = useState(false)
  const path = `/webhook-deliveries/${delivery.id}`
  const stale = ['/webhook-deliveries', '/webhook-endpoints', '/overview']
  const resend = useSend({ done: 'It is sent again', stale })
  const expunge = useSend({ done: 'What was received is removed', stale, onDone: () => setAsking(false) })
  return (
    <Page
      title={delivery.event}
      up={up}
      aside={<Status state={delivery.status} mood={deliveryMood[delivery.status] ?? 'idle'} />}
      actions={
        mayWrite && (
          <>
            <Button
              kind="main"
              disabled={resend.isPending}
              onClick={() => resend.mutate({ method: 'POST', path: `${path}/resend` })}
            >
              Send again
            </Button>
            <Menu
              label="More"
              items={[
                {
                  label: 'Remove what was received',
                  bad: true,
                  disabled: delivery.expunged_at !== null,
                  onSelect: () => setAsking(true),
                },
              ]}
            />
          </>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-[20rem_1fr] lg:items-start">
        <Card title="Facts">
          <Facts
            rows={[
              ['Endpoint', <ResourceLink id={delivery.endpoint_id} type="endpoint" />],
              ['About', delivery.resource && <ResourceLink {...delivery.resource} />],
              ['Happened', <Ago at={delivery.occurred_at} />],
              ['Sequence', delivery.sequence],
              ['Tries', delivery.attempt_count],
              ['Next try', delivery.next_attempt_at && <Ago at={delivery.next_attempt_at} />],
              ['Why', delivery.reason],
              ['Ended', delivery.finished_at && <Ago at={delivery.finished_at} />],
              ['Message', <Copied text={delivery.message_id} />],
              ['Id', <Copied text={delivery.id} />],
            ]}
          />
        </Card>
        <div className="flex min-w-0 flex-col gap-4">
          {delivery.attempts.length === 0 && (
            <Card title="Tries">
              <p className="text-muted">None so far.</p>
            </Card>
          )}
          {[...delivery.attempts].reverse().map((attempt, at) => (
            <Attempt key={attempt.id} attempt={attempt} isOpen={at === 0} />
          ))}
        </div>
      </div>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Remove what was received?"
        action="Remove it"
        pending={expunge.isPending}
        onConfirm={() => expunge.mutate({ method: 'POST', path: `${path}/expunge` })}
      >
        Headers and bodies of the answers are deleted from the log, such as when they hold what should not be kept. This cannot be
        undone.
      </Confirm>
    </Page>
  )
}
