import type { IncidentView } from '../../../features/incidents/shapes'
import { Button } from '../../parts/button'
import { ChannelsField } from '../../parts/channels-field'
import { TextareaField, Columns, SelectField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { openForm } from '../../parts/open-dialog'
import { SendButton } from '../../parts/send-button'
import { severityLabels } from '../../parts/severity'
import { useSend } from '../../queries'
import { usePerson } from '../../session'
import { Assignee } from './assignee'

const invalidates = ['/incidents', '/overview']
const send = { toast: 'Incident updated', invalidates }

/** Buttons and dialogs for the actions the user may take on an incident. */
export function IncidentActions({ incident }: { incident: IncidentView }) {
  const { canWrite } = usePerson()
  const reopen = useSend(send)
  if (!canWrite) return null
  const { id } = incident
  const isResolved = incident.status === 'resolved'
  return (
    <>
      {incident.status === 'open' && (
        <Button kind="primary" onClick={() => acknowledgeIncident(id)}>
          Acknowledge
        </Button>
      )}
      {incident.status === 'acknowledged' && (
        <SendButton call={verb(id, 'unacknowledge')} send={send}>
          Unacknowledge
        </SendButton>
      )}
      {!isResolved && <Button onClick={() => resolveIncident(id, incident.kind)}>Resolve</Button>}
      <Menu
        label="More actions"
        items={[
          { label: 'Edit', onSelect: () => edit(incident) },
          isResolved ? { label: 'Reopen', onSelect: () => reopen.mutate(verb(id, 'reopen')) } : null,
        ]}
      />
    </>
  )
}

const verb = (id: string, name: string, body = {}) => ({ method: 'POST', path: `/incidents/${id}/${name}`, body }) as const

/** Opens the dialog that acknowledges an incident. */
export const acknowledgeIncident = (id: string): void =>
  openForm({
    title: 'Acknowledge incident',
    description: 'Stops reminders and shows your team that you are working on it.',
    submitLabel: 'Acknowledge incident',
    initial: { note: '', expires_in_seconds: '14400' },
    call: ({ note, expires_in_seconds: seconds }) =>
      verb(id, 'acknowledge', { ...(note !== '' && { note }), expires_in_seconds: seconds === '' ? null : Number(seconds) }),
    send: { ...send, undo: () => verb(id, 'unacknowledge') },
    fields: (
      <>
        <SelectField
          name="expires_in_seconds"
          label="Acknowledge for"
          hint="If the incident isn’t resolved by then, its status is open again and reminders resume."
          choices={{ '3600': '1 hour', '14400': '4 hours', '86400': '1 day', '604800': '1 week', '': 'Until resolved' }}
        />
        <Note />
      </>
    ),
  })

/** Opens the dialog that resolves an incident. */
export const resolveIncident = (id: string, kind: IncidentView['kind']): void =>
  openForm({
    title: 'Resolve incident',
    description: kind === 'manual' ? undefined : stillFailing(kind),
    submitLabel: 'Resolve incident',
    initial: { note: '' },
    call: ({ note }) => verb(id, 'resolve', note === '' ? {} : { note }),
    send: { ...send, undo: () => verb(id, 'reopen') },
    fields: <Note />,
  })

/** What happens if a resource still fails after its incident was resolved manually. */
const stillFailing = (kind: IncidentView['kind']): string =>
  kind === 'certificate.gap'
    ? 'If the gap still exists, no new incident opens until it is resolved and comes back, or gets worse.'
    : kind === 'heartbeat.missed'
      ? 'If the heartbeat is still down, no new incident opens until it recovers and fails again.'
      : 'If the monitor is still failing, no new incident opens until it recovers and fails again, or gets worse.'

const Note = () => <TextareaField name="note" label="Note" rows={3} />

function edit({ id, version, title, severity, notes, assignee_id: assignee, channel_ids }: IncidentView): void {
  const path = `/incidents/${id}`
  openForm({
    title: 'Edit incident',
    submitLabel: 'Save changes',
    initial: { title, severity, notes, assignee_id: assignee ?? '', channel_ids },
    call: values => ({
      method: 'PATCH',
      path,
      ifMatch: version,
      body: { ...values, assignee_id: values.assignee_id || null },
    }),
    send: {
      toast: 'Incident saved',
      undo: () => ({ method: 'PATCH', path, body: { title, severity, notes, assignee_id: assignee, channel_ids } }),
      invalidates,
    },
    fields: (
      <>
        <TextField name="title" label="Title" />
        <Columns>
          <SelectField name="severity" label="Severity" choices={severityLabels} />
          <Assignee current={assignee} />
        </Columns>
        <ChannelsField hint="They receive what happens from now on." />
        <TextareaField name="notes" label="Notes" />
      </>
    ),
  })
}
