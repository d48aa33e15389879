import { hubNow } from '../../hub-clock'
import type { WebhookEndpointView } from '../../../features/webhooks/endpoints/shapes'
import { Columns, SelectField, TextField, useForm } from '../../parts/form'
import { OverlapField } from '../../parts/secret-fields'
import { closeDialog, openDialog, openForm } from '../../parts/open-dialog'
import { showSecret } from '../../parts/secret'
import { SendButton } from '../../parts/send-button'
import { RelativeTime } from '../../parts/time'
import { localInputToIso, toLocalInput } from '../../parts/timezone'

const dayMs = 86_400_000

/** Resends failed deliveries, for example after an outage of the receiver. @param onStart called with the id of the action */
export const recoverDeliveries = ({ id }: WebhookEndpointView, onStart: (actionId: string) => void): void =>
  openForm<{ id: string }>({
    title: 'Recover failed deliveries',
    description: 'Resends all undelivered messages of this endpoint: failed, held, and retrying ones.',
    submitLabel: 'Recover deliveries',
    initial: { since: toLocalInput(hubNow() - dayMs), until: '' },
    call: values => ({
      method: 'POST',
      path: `/webhook-endpoints/${id}/recover`,
      body: {
        since: localInputToIso(String(values.since)),
        ...(values.until !== '' && { until: localInputToIso(String(values.until)) }),
      },
    }),
    send: { invalidates: ['/webhook-deliveries', '/actions'], onSuccess: action => onStart(action.id) },
    fields: (
      <Columns>
        <TextField name="since" label="Start time" type="datetime-local" />
        <TextField name="until" label="End time" type="datetime-local" hint="Leave empty for now." />
      </Columns>
    ),
  })

/** Re-enables an endpoint that was disabled automatically. */
export const enableEndpoint = ({ id }: WebhookEndpointView, invalidates: readonly string[]): void =>
  openForm({
    title: 'Enable endpoint',
    initial: { replay: 'held', since: toLocalInput(hubNow() - dayMs) },
    call: ({ replay, since }) => ({
      method: 'POST',
      path: `/webhook-endpoints/${id}/enable`,
      body: { replay, ...(replay === 'since' && { since: localInputToIso(String(since)) }) },
    }),
    send: { toast: 'Endpoint enabled', invalidates },
    fields: <ReplayFields />,
  })

function ReplayFields() {
  const { values } = useForm()
  return (
    <>
      <SelectField
        name="replay"
        label="Missed deliveries"
        choices={{
          held: 'Send those that were held while the endpoint was disabled',
          none: 'Keep them on hold',
          since: 'Resend everything that was not delivered since…',
        }}
      />
      {values.replay === 'since' && <TextField name="since" label="Start time" type="datetime-local" />}
    </>
  )
}

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
    fields: <OverlapField />,
  })
}
