import { useNavigate } from '@tanstack/react-router'
import { AreaField, Columns, Form, SelectField, TextField } from '../../parts/form'
import { severityChoices } from '../../parts/severity'
import { useSend } from '../../queries'

/** Opens an incident by hand: what no monitor sees. */
export function NewIncident({ onClose }: { onClose(): void }) {
  const navigate = useNavigate()
  const send = useSend<{ id: string }>({
    quiet: true,
    done: 'Incident opened',
    stale: ['/incidents', '/overview'],
    onDone: made => void navigate({ to: `/incidents/${made.id}` }),
  })
  return (
    <Form
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
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action="Open the incident"
    >
      <TextField name="title" label="What is wrong" autoFocus />
      <Columns>
        <SelectField name="severity" label="Severity" choices={severityChoices} />
        <TextField name="cause" label="Cause" hint="As far as it is known." />
      </Columns>
      <AreaField name="notes" label="Notes" />
    </Form>
  )
}
