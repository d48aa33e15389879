import { useState } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Button } from '../../parts/button'
import { TextareaField, Form } from '../../parts/form'
import { confirmDelete } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { RelativeTime } from '../../parts/time'
import { usePerson } from '../../session'

const template = '## Summary\n\n## Root cause\n\n## Action items\n'

/** Postmortem of an incident. */
export function Postmortem({ incident }: { incident: IncidentView }) {
  const { canWrite } = usePerson()
  const [isOpen, setOpen] = useState(false)
  const path = `/incidents/${incident.id}/postmortem`
  const { postmortem } = incident
  const remove = () => confirmDelete({ noun: 'postmortem', path, invalidates: ['/incidents'], text: 'This can’t be undone.' })
  if (!postmortem && !canWrite) return null
  return (
    <Card
      title="Postmortem"
      actions={
        canWrite &&
        !isOpen && (
          <>
            <Button small onClick={() => setOpen(true)}>
              {postmortem ? 'Edit' : 'Add postmortem'}
            </Button>
            {postmortem && (
              <Button small kind="danger" onClick={remove}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      {isOpen ? (
        <Form
          initial={{ body: postmortem?.body ?? template }}
          call={values => ({ method: 'PUT', path, body: values })}
          send={{ toast: 'Postmortem saved', invalidates: ['/incidents'], onSuccess: () => setOpen(false) }}
          onCancel={() => setOpen(false)}
          submitLabel="Save postmortem"
        >
          <TextareaField name="body" label="Text" hint="Supports Markdown." rows={14} mono />
        </Form>
      ) : postmortem ? (
        <>
          <p className="mb-2 text-[13px] text-muted">
            Updated <RelativeTime at={postmortem.updated_at} />
          </p>
          <div className="whitespace-pre-wrap wrap-anywhere">{postmortem.body}</div>
        </>
      ) : (
        <p className="text-muted">A postmortem describes what happened, why, and how to prevent it. There is none yet.</p>
      )}
    </Card>
  )
}
