import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { systemClock } from '../../../core/clock'
import type { WebhookEndpointView } from '../../../features/webhooks/endpoints/shapes'
import { Button } from '../../parts/button'
import { CopyableText } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Form, SelectField } from '../../parts/form'
import { RelativeTime } from '../../parts/time'
import { useSend } from '../../queries'

interface DialogProps {
  open: boolean
  onClose(): void
  endpoint: WebhookEndpointView
}

const hourMs = 3_600_000

/** Resends failed deliveries, for example after an outage of the receiver. Opens the action that shows the progress. */
export function Recover({ open, onClose, endpoint }: DialogProps) {
  const navigate = useNavigate()
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Recover failed deliveries"
      description="Resends deliveries that failed permanently, are held, or are waiting for a retry."
    >
      <Form<{ id: string }>
        initial={{ hours: '24' }}
        call={values => ({
          method: 'POST',
          path: `/webhook-endpoints/${endpoint.id}/recover`,
          body: { since: new Date(systemClock.now() - Number(values.hours) * hourMs).toISOString() },
        })}
        send={{
          invalidates: ['/webhook-deliveries', '/actions'],
          onSuccess: action => void navigate({ to: `/actions/${action.id}` }),
        }}
        onCancel={onClose}
        submitLabel="Recover deliveries"
      >
        <SelectField
          name="hours"
          label="Time range"
          choices={{
            '1': 'Last hour',
            '6': 'Last 6 hours',
            '24': 'Last 24 hours',
            '72': 'Last 3 days',
            '168': 'Last 7 days',
            '720': 'Last 30 days',
          }}
        />
      </Form>
    </Dialog>
  )
}

/** Rotates the signing secret: during an overlap both secrets sign messages, then only the new one. */
export function Secret({ open, onClose, endpoint }: DialogProps) {
  const [secret, setSecret] = useState<string | null>(null)
  const path = `/webhook-endpoints/${endpoint.id}/secret`
  const promote = useSend({ toast: 'New secret promoted', invalidates: ['/webhook-endpoints'], onSuccess: onClose })
  const close = () => {
    setSecret(null)
    onClose()
  }
  return (
    <Dialog open={open} onClose={close} title="Rotate secret">
      {secret ? (
        <div className="flex flex-col gap-3">
          <p>Add this secret to the receiver. It is shown only once.</p>
          <CopyableText text={secret} label="the new secret" />
        </div>
      ) : endpoint.next_secret_hint ? (
        <div className="flex flex-col gap-4">
          <p>
            A rotation is in progress. Messages are signed with {endpoint.secret_hint} and the new {endpoint.next_secret_hint}.
            The old secret expires <RelativeTime at={endpoint.overlap_ends_at} />.
          </p>
          <div className="flex justify-end">
            <Button
              kind="primary"
              disabled={promote.isPending}
              onClick={() => promote.mutate({ method: 'POST', path: `${path}/promote` })}
            >
              Promote new secret
            </Button>
          </div>
        </div>
      ) : (
        <Form<{ secret: string }>
          initial={{ overlap_seconds: '86400' }}
          call={values => ({ method: 'POST', path: `${path}/rotate`, body: { overlap_seconds: Number(values.overlap_seconds) } })}
          send={{ invalidates: ['/webhook-endpoints'], onSuccess: rotated => setSecret(rotated.secret) }}
          onCancel={close}
          submitLabel="Rotate secret"
        >
          <SelectField
            name="overlap_seconds"
            label="Overlap"
            hint="During the overlap, messages can be verified with either secret."
            choices={[
              ['3600', '1 hour'],
              ['86400', '1 day'],
              ['604800', '1 week'],
              ['0', 'None: the old secret expires immediately'],
            ]}
          />
        </Form>
      )}
    </Dialog>
  )
}
