import { useState } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { MemberView } from '../../../features/people/members/shapes'
import type { Page as Listing } from '../../client'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { TextareaField, Columns, Form, SelectField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { severityChoices } from '../../parts/severity'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'

type OpenDialog = 'acknowledge' | 'resolve' | 'edit' | null

const invalidates = ['/incidents', '/overview']

/** Buttons and dialogs for the actions the user may take on an incident. */
export function IncidentActions({ incident }: { incident: IncidentView }) {
  const { canWrite } = usePerson()
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const path = `/incidents/${incident.id}`
  const act = useSend({ toast: 'Incident updated', invalidates })
  const close = () => setDialog(null)
  if (!canWrite) return null
  const send = (verb: string) => () => act.mutate({ method: 'POST', path: `${path}/${verb}`, body: {} })
  const isResolved = incident.status === 'resolved'
  return (
    <>
      {incident.status === 'open' && (
        <Button kind="primary" onClick={() => setDialog('acknowledge')}>
          Acknowledge
        </Button>
      )}
      {incident.status === 'acknowledged' && <Button onClick={send('unacknowledge')}>Unacknowledge</Button>}
      {!isResolved && <Button onClick={() => setDialog('resolve')}>Resolve</Button>}
      <Menu
        label="More actions"
        items={[
          { label: 'Edit', onSelect: () => setDialog('edit') },
          isResolved ? { label: 'Reopen', onSelect: send('reopen') } : null,
        ]}
      />
      <Dialog
        open={dialog === 'acknowledge'}
        onClose={close}
        title="Acknowledge incident"
        description="Stops reminders and shows your team that you are working on it."
      >
        <NoteForm action="Acknowledge" onClose={close} path={`${path}/acknowledge`} undo={`${path}/unacknowledge`} withExpiry />
      </Dialog>
      <Dialog
        open={dialog === 'resolve'}
        onClose={close}
        title="Resolve incident"
        description="If the check is still failing, no new incident opens until it recovers and fails again, or gets worse."
      >
        <NoteForm action="Resolve" onClose={close} path={`${path}/resolve`} undo={`${path}/reopen`} />
      </Dialog>
      <Dialog open={dialog === 'edit'} onClose={close} title="Edit incident">
        <Edit incident={incident} onClose={close} />
      </Dialog>
    </>
  )
}

interface NoteFormProps {
  action: string
  path: string
  /** Path of the request that undoes the action. */
  undo: string
  withExpiry?: boolean
  onClose(): void
}

const NoteForm = ({ action, path, undo, withExpiry, onClose }: NoteFormProps) => (
  <Form
    initial={{ note: '', expires_in_seconds: '14400' }}
    call={({ note, expires_in_seconds: seconds }) => ({
      method: 'POST',
      path,
      body: {
        ...(note !== '' && { note }),
        ...(withExpiry && { expires_in_seconds: seconds === '' ? null : Number(seconds) }),
      },
    })}
    send={{
      toast: 'Incident updated',
      undo: () => ({ method: 'POST', path: undo, body: {} }),
      invalidates,
      onSuccess: onClose,
    }}
    onCancel={onClose}
    submitLabel={action}
  >
    {withExpiry && (
      <SelectField
        name="expires_in_seconds"
        label="Acknowledge for"
        hint="If it isn’t resolved by then, the incident is open again and reminders resume."
        choices={{ '3600': '1 hour', '14400': '4 hours', '86400': '1 day', '604800': '1 week', '': 'Until resolved' }}
      />
    )}
    <TextareaField name="note" label="Note" rows={3} />
  </Form>
)

function Edit({ incident, onClose }: { incident: IncidentView; onClose(): void }) {
  const { canReadAccount } = usePerson()
  const members = useOne<Listing<MemberView>>(canReadAccount ? '/members' : null, { limit: 100 })
  const { title, severity, notes, assignee_id: assignee } = incident
  const path = `/incidents/${incident.id}`
  const known = members.data?.data ?? []
  return (
    <Form
      initial={{ title, severity, notes, assignee_id: assignee ?? '' }}
      call={values => ({
        method: 'PATCH',
        path,
        ifMatch: incident.version,
        body: { ...values, assignee_id: values.assignee_id || null },
      })}
      send={{
        toast: 'Incident saved',
        undo: () => ({ method: 'PATCH', path, body: { title, severity, notes, assignee_id: assignee } }),
        invalidates,
        onSuccess: onClose,
      }}
      onCancel={onClose}
      submitLabel="Save changes"
    >
      <TextField name="title" label="Title" />
      <Columns>
        <SelectField name="severity" label="Severity" choices={severityChoices} />
        <SelectField
          name="assignee_id"
          label="Assignee"
          choices={[
            ['', 'Unassigned'],
            ...known.map(one => [one.id, one.name] as const),
            ...(assignee && !known.some(one => one.id === assignee) ? [[assignee, assignee] as const] : []),
          ]}
        />
      </Columns>
      <TextareaField name="notes" label="Notes" />
    </Form>
  )
}
