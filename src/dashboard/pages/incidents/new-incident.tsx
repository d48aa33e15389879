import { TextareaField, Columns, SelectField, TextField } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { severityLabels } from '../../parts/severity'

/** Opens a form to create a manual incident. @param onCreate called with its id */
export const createIncident = (onCreate: (id: string) => void): void =>
  openForm<{ id: string }>({
    title: 'Create incident',
    initial: { title: '', severity: 'critical', cause: '', notes: '' },
    call: values => ({
      method: 'POST',
      path: '/incidents',
      body: {
        title: values.title,
        severity: values.severity,
        ...(values.cause !== '' && { cause: values.cause }),
        ...(values.notes !== '' && { notes: values.notes }),
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
        <TextareaField name="notes" label="Notes" />
      </>
    ),
  })
