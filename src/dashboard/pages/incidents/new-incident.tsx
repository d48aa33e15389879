import { ChannelsField } from '../../parts/channels-field'
import { TextareaField, Columns, SelectField, TextField } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { PickResourcesField } from '../../parts/pick-field'
import { severityLabels } from '../../parts/severity'
import { localInputToIso } from '../../parts/timezone'
import { Assignee } from './assignee'

const isSubject = ({ name }: { name: string }) => name === 'monitor' || name === 'heartbeat'

/** Opens a form to create a manual incident. @param onCreate called with its id */
export const createIncident = (onCreate: (id: string) => void): void =>
  openForm<{ id: string }>({
    title: 'Create incident',
    initial: {
      title: '',
      severity: 'critical',
      cause: '',
      started_at: '',
      affected: [],
      assignee_id: '',
      channel_ids: null,
      notes: '',
    },
    call: ({ cause, started_at: startedAt, assignee_id: assignee, notes, ...values }) => ({
      method: 'POST',
      path: '/incidents',
      body: {
        ...values,
        ...(cause !== '' && { cause }),
        ...(startedAt !== '' && { started_at: localInputToIso(startedAt as string) }),
        ...(assignee !== '' && { assignee_id: assignee }),
        ...(notes !== '' && { notes }),
      },
    }),
    send: {
      toast: 'Incident created',
      invalidates: ['/incidents', '/overview'],
      onSuccess: incident => onCreate(incident.id),
    },
    fields: (
      <>
        <TextField name="title" label="Title" autoFocus />
        <Columns>
          <SelectField name="severity" label="Severity" choices={severityLabels} />
          <TextField name="cause" label="Cause" hint="Optional." />
        </Columns>
        <Columns>
          <TextField type="datetime-local" name="started_at" label="Started" hint="Leave empty for now." />
          <Assignee current={null} />
        </Columns>
        <PickResourcesField name="affected" label="Affected monitors and heartbeats" isSearched={isSubject} />
        <ChannelsField />
        <TextareaField name="notes" label="Notes" />
      </>
    ),
  })
