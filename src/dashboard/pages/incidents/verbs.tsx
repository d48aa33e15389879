import { useState } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { MemberView } from '../../../access/member-shapes'
import type { Page as Listing } from '../../client'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { AreaField, Columns, Form, SelectField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { severityChoices } from '../../parts/severity'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'

type Asked = 'acknowledge' | 'resolve' | 'edit' | null

const stale = ['/incidents', '/overview']

/** What can be done with an incident, as far as the person may. */
export function Verbs({ incident }: { incident: IncidentView }) {
  const { mayWrite } = usePerson()
  const [asked, setAsked] = useState<Asked>(null)
  const path = `/incidents/${incident.id}`
  const act = useSend({ done: 'Done', stale })
  const close = () => setAsked(null)
  if (!mayWrite) return null
  const send = (verb: string) => () => act.mutate({ method: 'POST', path: `${path}/${verb}`, body: {} })
  const isOver = incident.status === 'resolved'
  return (
    <>
      {incident.status === 'open' && (
        <Button kind="main" onClick={() => setAsked('acknowledge')}>
          Acknowledge
        </Button>
      )}
      {incident.status === 'acknowledged' && <Button onClick={send('unacknowledge')}>Let it go</Button>}
      {!isOver && <Button onClick={() => setAsked('resolve')}>Resolve</Button>}
      <Menu
        label="More"
        items={[
          { label: 'Edit', onSelect: () => setAsked('edit') },
          isOver ? { label: 'Reopen', onSelect: send('reopen') } : null,
        ]}
      />
      <Dialog
        open={asked === 'acknowledge'}
        onClose={close}
        title="See to it"
        description="Reminders stop, and the others see that you are at it."
      >
        <Remark action="Acknowledge" onClose={close} path={`${path}/acknowledge`} undo={`${path}/unacknowledge`} until />
      </Dialog>
      <Dialog
        open={asked === 'resolve'}
        onClose={close}
        title="Resolve it by hand"
        description="It opens no other until what failed was well again, or got worse."
      >
        <Remark action="Resolve" onClose={close} path={`${path}/resolve`} undo={`${path}/reopen`} />
      </Dialog>
      <Dialog open={asked === 'edit'} onClose={close} title="Edit the incident">
        <Edit incident={incident} onClose={close} />
      </Dialog>
    </>
  )
}

interface RemarkProps {
  action: string
  path: string
  /** The call that takes it back. */
  undo: string
  until?: boolean
  onClose(): void
}

function Remark({ action, path, undo, until, onClose }: RemarkProps) {
  const send = useSend({
    quiet: true,
    done: 'Done',
    undo: () => ({ method: 'POST', path: undo, body: {} }),
    stale,
    onDone: onClose,
  })
  return (
    <Form
      initial={{ note: '', expires_in_seconds: '14400' }}
      call={({ note, expires_in_seconds: holds }) => ({
        method: 'POST',
        path,
        body: {
          ...(note !== '' && { note }),
          ...(until && { expires_in_seconds: holds === '' ? null : Number(holds) }),
        },
      })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action={action}
    >
      {until && (
        <SelectField
          name="expires_in_seconds"
          label="For"
          hint="Unless it is resolved by then it is open again, and channels are reminded."
          choices={[
            ['3600', 'an hour'],
            ['14400', '4 hours'],
            ['86400', 'a day'],
            ['604800', 'a week'],
            ['', 'as long as it lasts'],
          ]}
        />
      )}
      <AreaField name="note" label="Note" rows={3} />
    </Form>
  )
}

function Edit({ incident, onClose }: { incident: IncidentView; onClose(): void }) {
  const { seesAccount } = usePerson()
  const members = useOne<Listing<MemberView>>(seesAccount ? '/members' : null, { limit: 100 })
  const { title, severity, notes, assignee_id: assignee } = incident
  const path = `/incidents/${incident.id}`
  const send = useSend({
    quiet: true,
    done: 'Incident saved',
    undo: () => ({ method: 'PATCH', path, body: { title, severity, notes, assignee_id: assignee } }),
    stale,
    onDone: onClose,
  })
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
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action="Save"
    >
      <TextField name="title" label="Title" />
      <Columns>
        <SelectField name="severity" label="Severity" choices={severityChoices} />
        <SelectField
          name="assignee_id"
          label="Seen to by"
          choices={[
            ['', 'Nobody'],
            ...known.map(one => [one.id, one.name] as const),
            ...(assignee && !known.some(one => one.id === assignee) ? [[assignee, assignee] as const] : []),
          ]}
        />
      </Columns>
      <AreaField name="notes" label="Notes" />
    </Form>
  )
}
