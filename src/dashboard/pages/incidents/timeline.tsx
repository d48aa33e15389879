import { useState } from 'react'
import type { IncidentUpdateView, IncidentView } from '../../../features/incidents/shapes'
import { Button } from '../../parts/button'
import { Disclosure } from '../../parts/disclosure'
import { TextareaField, CheckboxField, Form } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { humanize, capitalize } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useList } from '../../queries'
import { usePerson } from '../../session'
import { foldedTimeline, type TimelineItem } from './folded-timeline'

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
        {foldedTimeline(entries)
          .reverse()
          .map(one => (
            <li key={one.id} className="flex gap-3">
              <span className={`mt-1.5 size-2.5 shrink-0 rounded-full ${markOf(one)}`} aria-hidden />
              <div className="min-w-0 grow">
                {one.kind === 'entry' ? (
                  <Entry incident={incident} entry={one.entry} canWrite={canWrite} />
                ) : (
                  <Notifications group={one} />
                )}
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

const idleMark = 'bg-idle-mark'
const markOf = (item: TimelineItem): string =>
  item.kind === 'entry' ? (marks[item.entry.kind] ?? idleMark) : item.failures.length > 0 ? 'bg-bad-mark' : idleMark

interface EntryProps {
  incident: IncidentView
  entry: IncidentUpdateView
  canWrite: boolean
}

const Entry = ({ incident, entry, canWrite }: EntryProps) => (
  <>
    <p className="flex flex-wrap items-baseline gap-x-1">
      <span className="font-medium">{capitalize(humanize(entry.kind))}</span>
      <span className="text-muted">
        <RelativeTime at={entry.at} />
        {entry.actor && ` by ${entry.actor.name ?? entry.actor.id}`}
        {entry.edited_at && ', edited'}
      </span>
      {canWrite && entry.kind === 'note' && (
        <Button small kind="quiet" className="-my-1 ml-auto" aria-label="Edit note" onClick={() => editNote(incident, entry)}>
          Edit
        </Button>
      )}
    </p>
    {/* The cause of a manual incident is its title by default. */}
    {entry.text && entry.text !== incident.title && <p className="whitespace-pre-wrap wrap-anywhere">{entry.text}</p>}
  </>
)

/** Notifications as one line that expands. Failures are always shown. */
function Notifications({ group: { summary, at, entries, failures } }: { group: TimelineItem & { kind: 'notifications' } }) {
  const line = (
    <>
      <span className="font-medium">{summary}</span>{' '}
      <span className="text-muted">
        <RelativeTime at={at} />
      </span>
    </>
  )
  const others = entries.filter(one => !failures.includes(one))
  return (
    <>
      {others.length === 0 ? (
        <p>{line}</p>
      ) : (
        <Disclosure summary={<span>{line}</span>}>
          <ul className="mt-1 flex flex-col gap-1 border-l-2 border-line pl-3 text-[13px]">
            {others.map(one => (
              <li key={one.id} className="wrap-anywhere">
                {one.text}{' '}
                <span className="text-muted">
                  <RelativeTime at={one.at} />
                </span>
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
      {failures.map(one => (
        <p key={one.id} className="wrap-anywhere text-bad">
          {one.text}
        </p>
      ))}
    </>
  )
}

function editNote({ id }: IncidentView, { id: note, text }: IncidentUpdateView): void {
  const path = `/incidents/${id}/updates/${note}`
  openForm({
    title: 'Edit note',
    submitLabel: 'Save changes',
    initial: { text },
    call: values => ({ method: 'PATCH', path, body: values }),
    send: { toast: 'Note saved', undo: () => ({ method: 'PATCH', path, body: { text } }), invalidates: ['/incidents'] },
    fields: <TextareaField name="text" label="Note" rows={4} />,
  })
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
