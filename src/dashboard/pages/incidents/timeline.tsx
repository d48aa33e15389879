import { useState } from 'react'
import type { IncidentUpdateView, IncidentView } from '../../../features/incidents/shapes'
import { Button } from '../../parts/button'
import { AreaField, CheckField, Form } from '../../parts/form'
import { Card } from '../../parts/page'
import { wordsOf } from '../../parts/status'
import { Ago } from '../../parts/time'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'

const marks: Record<string, string> = {
  opened: 'bg-bad-mark',
  reopened: 'bg-bad-mark',
  worsened: 'bg-bad-mark',
  resolved: 'bg-ok-mark',
  acknowledged: 'bg-warn-mark',
  note: 'bg-accent',
}

/** What happened to an incident, newest first, and a place to write a note. */
export function Timeline({ incident }: { incident: IncidentView }) {
  const { mayWrite } = usePerson()
  // The incident has the last fifty; the rest is read when somebody asks.
  const [whole, setWhole] = useState(false)
  const list = useList<IncidentUpdateView>(whole ? `/incidents/${incident.id}/timeline` : null)
  const entries = whole && list.rows.length > 0 ? list.rows : incident.timeline
  return (
    <Card title="Timeline">
      {mayWrite && <NewNote id={incident.id} />}
      <ol className="mt-4 flex flex-col gap-3">
        {[...entries].reverse().map(one => (
          <li key={one.id} className="flex gap-3">
            <span className={`mt-1.5 size-2.5 shrink-0 rounded-full ${marks[one.kind] ?? 'bg-idle-mark'}`} aria-hidden />
            <div className="min-w-0 grow">
              <p className="flex flex-wrap gap-x-2">
                <span className="font-medium">{wordsOf(one.kind)}</span>
                <span className="text-muted">
                  <Ago at={one.at} />
                  {one.actor && ` by ${one.actor.name ?? one.actor.id}`}
                  {one.edited_at && ', edited'}
                </span>
              </p>
              {one.text && <p className="whitespace-pre-wrap wrap-anywhere">{one.text}</p>}
            </div>
          </li>
        ))}
      </ol>
      {((!whole && incident.timeline.length >= 50) || list.hasMore) && (
        <Button small kind="quiet" className="mt-3" onClick={whole ? list.more : () => setWhole(true)}>
          More
        </Button>
      )}
    </Card>
  )
}

function NewNote({ id }: { id: string }) {
  const [written, setWritten] = useState(0)
  const send = useSend({
    quiet: true,
    done: 'Note added',
    stale: ['/incidents'],
    onDone: () => setWritten(written + 1),
  })
  return (
    <Form
      key={written}
      initial={{ text: '', notify: false }}
      call={values => ({ method: 'POST', path: `/incidents/${id}/updates`, body: values })}
      send={send.mutateAsync}
      pending={send.isPending}
      action="Add the note"
    >
      <AreaField name="text" label="Note" rows={2} placeholder="What you found, what you did" />
      <CheckField name="notify" label="Tell the channels, too" />
    </Form>
  )
}
