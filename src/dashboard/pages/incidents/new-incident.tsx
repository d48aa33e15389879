import { useNavigate } from '@tanstack/react-router'
import { TextareaField, Columns, Form, SelectField, TextField } from '../../parts/form'
import { severityChoices } from '../../parts/severity'

/** Form to create a manual incident. */
export function NewIncident({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  return (
    <Form<{ id: string }>
      initial={{ title: '', severity: 'critical', cause: '', notes: '' }}
      call={values => ({
        method: 'POST',
        path: '/incidents',
        body: {
          title: values.title,
          severity: values.severity,
          ...(values.cause !== '' && { cause: values.cause }),
          ...(values.notes !== '' && { notes: values.notes }),
        },
      })}
      send={{
        toast: 'Incident created',
        invalidates: ['/incidents', '/overview'],
        onSuccess: incident => void navigate({ to: `/incidents/${incident.id}` }),
      }}
      onCancel={onClose}
      submitLabel="Create incident"
    >
      <TextField name="title" label="Title" autoFocus />
      <Columns>
        <SelectField name="severity" label="Severity" choices={severityChoices} />
        <TextField name="cause" label="Cause" hint="If known." />
      </Columns>
      <TextareaField name="notes" label="Notes" />
    </Form>
  )
}
