import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { systemClock } from '../../../core/clock'
import type { WebhookEndpointView } from '../../../features/webhooks/shapes'
import { Button } from '../../parts/button'
import { Copied } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Form, SelectField } from '../../parts/form'
import { Ago } from '../../parts/time'
import { useSend } from '../../queries'

interface DialogProps {
  open: boolean
  onClose(): void
  endpoint: WebhookEndpointView
}

const hourMs = 3_600_000

/** Sends again what did not arrive, such as after an outage of the receiver; its progress is an action’s. */
export function Recover({ open, onClose, endpoint }: DialogProps) {
  const navigate = useNavigate()
  const send = useSend<{ id: string }>({
    quiet: true,
    stale: ['/webhook-deliveries', '/actions'],
    onDone: made => void navigate({ to: `/actions/${made.id}` }),
  })
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Send again what did not arrive"
      description="Messages that were given up, cancelled or too old."
    >
      <Form
        initial={{ hours: '24' }}
        call={values => ({
          method: 'POST',
          path: `/webhook-endpoints/${endpoint.id}/recover`,
          body: { since: new Date(systemClock.now() - Number(values.hours) * hourMs).toISOString() },
        })}
        send={send.mutateAsync}
        pending={send.isPending}
        onCancel={onClose}
        action="Send them again"
      >
        <SelectField
          name="hours"
          label="Of the last"
          choices={[
            ['1', 'hour'],
            ['6', '6 hours'],
            ['24', 'day'],
            ['72', '3 days'],
            ['168', 'week'],
            ['720', '30 days'],
          ]}
        />
      </Form>
    </Dialog>
  )
}

/** Changes the signing secret without a gap: for a while both sign, then the new one alone. */
export function Secret({ open, onClose, endpoint }: DialogProps) {
  const [secret, setSecret] = useState<string | null>(null)
  const path = `/webhook-endpoints/${endpoint.id}/secret`
  const rotate = useSend<{ secret: string }>({
    quiet: true,
    stale: ['/webhook-endpoints'],
    onDone: made => setSecret(made.secret),
  })
  const promote = useSend({ done: 'The new secret signs alone', stale: ['/webhook-endpoints'], onDone: onClose })
  const close = () => {
    setSecret(null)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title="Change the secret">
      {secret ? (
        <div className="flex flex-col gap-3">
          <p>Give this to the receiver. It is shown this once.</p>
          <Copied text={secret} label="the new secret" />
        </div>
      ) : endpoint.next_secret_hint ? (
        <div className="flex flex-col gap-4">
          <p>
            Two secrets sign at this time: {endpoint.secret_hint} and the new {endpoint.next_secret_hint}. The old one ends{' '}
            <Ago at={endpoint.overlap_ends_at} />.
          </p>
          <div className="flex justify-end">
            <Button
              kind="main"
              disabled={promote.isPending}
              onClick={() => promote.mutate({ method: 'POST', path: `${path}/promote` })}
            >
              End the old secret now
            </Button>
          </div>
        </div>
      ) : (
        <Form
          initial={{ overlap_seconds: '86400' }}
          call={values => ({ method: 'POST', path: `${path}/rotate`, body: { overlap_seconds: Number(values.overlap_seconds) } })}
          send={rotate.mutateAsync}
          pending={rotate.isPending}
          onCancel={close}
          action="Make a new secret"
        >
          <SelectField
            name="overlap_seconds"
            label="Both sign for"
            hint="A receiver that knows either accepts each message meanwhile."
            choices={[
              ['3600', 'an hour'],
              ['86400', 'a day'],
              ['604800', 'a week'],
              ['0', 'no time: the old one ends at once'],
            ]}
          />
        </Form>
      )}
    </Dialog>
  )
}
