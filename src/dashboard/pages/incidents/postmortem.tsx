import { useState } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Button } from '../../parts/button'
import { Confirm } from '../../parts/dialog'
import { AreaField, Form } from '../../parts/form'
import { Card } from '../../parts/page'
import { Ago } from '../../parts/time'
import { useSend } from '../../queries'
import { usePerson } from '../../session'

const outline = '## What happened\n\n## Why\n\n## What we do about it\n'

/** What was learned from an incident. */
export function Postmortem({ incident }: { incident: IncidentView }) {
  const { mayWrite } = usePerson()
  const [isOpen, setOpen] = useState(false)
  const [asking, setAsking] = useState(false)
  const path = `/incidents/${incident.id}/postmortem`
  const send = useSend({ quiet: true, done: 'Post-mortem saved', stale: ['/incidents'], onDone: () => setOpen(false) })
  const remove = useSend({ done: 'Post-mortem deleted', stale: ['/incidents'], onDone: () => setAsking(false) })
  const { postmortem } = incident
  if (!postmortem && !mayWrite) return null
  return (
    <Card
      title="Post-mortem"
      actions={
        mayWrite &&
        !isOpen && (
          <>
            <Button small onClick={() => setOpen(true)}>
              {postmortem ? 'Edit' : 'Write'}
            </Button>
            {postmortem && (
              <Button small kind="bad" onClick={() => setAsking(true)}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      {isOpen ? (
        <Form
          initial={{ body: postmortem?.body ?? outline }}
          call={values => ({ method: 'PUT', path, body: values })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => setOpen(false)}
          action="Save"
        >
          <AreaField name="body" label="Text" hint="Markdown." rows={14} mono />
        </Form>
      ) : postmortem ? (
        <>
          <p className="mb-2 text-[13px] text-muted">
            Written <Ago at={postmortem.updated_at} />
          </p>
          <div className="whitespace-pre-wrap wrap-anywhere">{postmortem.body}</div>
        </>
      ) : (
        <p className="text-muted">Nothing was written so far.</p>
      )}
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title="Delete the post-mortem?"
        action="Delete it"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        The text is gone for good.
      </Confirm>
    </Card>
  )
}
