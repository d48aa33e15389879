import { useState } from 'react'
import type { IncidentUpdateView, IncidentView } from '../../../features/incidents/shapes'
import { Button } from '../../parts/button'
import { TextareaField, CheckboxField, Form } from '../../parts/form'
import { Card } from '../../parts/page'
import { humanize, capitalize } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'
import { usePerson } from '../../session'

const marks: Record<string, string> = {
  opened: 'bg-bad-mark',
  reopened: 'bg-bad-mark',
  worsened: 'bg-bad-mark',
  resolved: 'bg-ok-mark',
  acknowledged: 'bg-warn-mark',
  note: 'bg-accent',
}

/** Timeline of an incident, newest first, with a form to add notes. */
export function Timeline({ incident }: { incident: IncidentView }) {
  const { canWrite } = usePerson()
  // The incident includes the latest 50 entries; the rest is loaded on demand.
  const [showAll, setShowAll] = useState(false)
  const list = useList<IncidentUpdateView>(showAll ? `/incidents/${incident.id}/timeline` : null)
  const entries = showAll && list.rows.length > 0 ? list.rows : incident.timeline
  return (
    <Card title="Timeline">
      {canWrite && <NewNote id={incident.id} />}
      <ol className="mt-4 flex flex-col gap-3">
        {[...entries].reverse().map(one => (
          <li key={one.id} className="flex gap-3">
            <span className={`mt-1.5 size-2.5 shrink-0 rounded-full ${marks[one.kind] ?? 'bg-idle-mark'}`} aria-hidden />
            <div className="min-w-0 grow">
              <p className="flex flex-wrap gap-x-2">
                <span className="font-medium">{capitalize(humanize(one.kind))}</span>
                <span className="text-muted">
                  <RelativeTime at={one.at} />
                  {one.actor && ` by ${one.actor.name ?? one.actor.id}`}
                  {one.edited_at && ', edited'}
                </span>
              </p>
              {one.text && <p className="whitespace-pre-wrap wrap-anywhere">{one.text}</p>}
            </div>
          </li>
        ))}
      </ol>
      {((!showAll && incident.timeline.length >= 50) || list.hasMore) && (
        <Button small kind="quiet" className="mt-3" onClick={showAll ? list.loadMore : () => setShowAll(true)}>
          Load more
        </Button>
      )}
    </Card>
  )
}

const NewNote = ({ id }: { id: string }) => (
  <Form
    initial={{ text: '', notify: false }}
    call={values => ({ method: 'POST', path: `/incidents/${id}/updates`, body: values })}
    send={{ toast: 'Note added', invalidates: ['/incidents'] }}
    resets
    submitLabel="Add note"
  >
    <TextareaField name="text" label="Note" rows={2} placeholder="What you found, what you did" />
    <CheckboxField name="notify" label="Notify channels" hint="Sends the note to the channels of the incident." />
  </Form>
)
