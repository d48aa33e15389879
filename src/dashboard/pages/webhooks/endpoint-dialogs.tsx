import { hubNow } from '../../hub-clock'
import type { WebhookEndpointView } from '../../../features/webhooks/endpoints/shapes'
import { SelectField } from '../../parts/form'
import { closeDialog, openDialog, openForm } from '../../parts/open-dialog'
import { showSecret } from '../../parts/secret'
import { SendButton } from '../../parts/send-button'
import { RelativeTime } from '../../parts/time'

const hourMs = 3_600_000

/** Resends failed deliveries, for example after an outage of the receiver. @param onStart called with the id of the action */
export const recoverDeliveries = ({ id }: WebhookEndpointView, onStart: (actionId: string) => void): void =>
  openForm<{ id: string }>({
    title: 'Recover failed deliveries',
    description: 'Resends all undelivered messages of this endpoint: failed, held, and retrying ones.',
    submitLabel: 'Recover deliveries',
    initial: { hours: '24' },
    call: values => ({
      method: 'POST',
      path: `/webhook-endpoints/${id}/recover`,
      body: { since: new Date(hubNow() - Number(values.hours) * hourMs).toISOString() },
    }),
    send: { invalidates: ['/webhook-deliveries', '/actions'], onSuccess: action => onStart(action.id) },
    fields: (
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
    ),
  })

/** Rotates the signing secret: during an overlap both secrets sign messages, then only the new one. */
export function rotateSecret(endpoint: WebhookEndpointView): void {
  const title = 'Rotate secret'
  const path = `/webhook-endpoints/${endpoint.id}/secret`
  const invalidates = ['/webhook-endpoints']
  if (endpoint.next_secret_hint) {
    return openDialog({
      title,
      content: (
        <div className="flex flex-col gap-4">
          <p>
            A rotation is in progress. Messages are signed with both the old secret {endpoint.secret_hint} and the new secret{' '}
            {endpoint.next_secret_hint}. The old one expires <RelativeTime at={endpoint.overlap_ends_at} />. If your receiver
            already uses the new secret, you can end the rotation now. The old secret then stops working immediately.
          </p>
          <div className="flex justify-end">
            <SendButton
              kind="primary"
              call={{ method: 'POST', path: `${path}/promote` }}
              send={{ toast: 'Rotation ended', invalidates, onSuccess: closeDialog }}
            >
              End rotation now
            </SendButton>
          </div>
        </div>
      ),
    })
  }
  openForm<{ secret: string }>({
    title,
    initial: { overlap_seconds: '86400' },
    call: values => ({ method: 'POST', path: `${path}/rotate`, body: { overlap_seconds: Number(values.overlap_seconds) } }),
    send: {
      invalidates,
      onSuccess: ({ secret }) =>
        showSecret({
          title,
          description: 'Add this secret to the receiver. It is shown only once.',
          value: secret,
          file: `signing secret ${new URL(endpoint.url).host}`,
        }),
    },
    fields: (
      <SelectField
        name="overlap_seconds"
        label="Overlap"
        hint="How long messages are signed with both secrets, so that you can update the receiver."
        choices={[
          ['3600', '1 hour'],
          ['86400', '1 day'],
          ['604800', '1 week'],
          ['0', 'None: the old secret expires immediately'],
        ]}
      />
    ),
  })
}
