import { useNavigate, useParams } from '@tanstack/react-router'
import { CircleStop, Pencil, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Copied } from '../../parts/code'
import { Confirm, Dialog } from '../../parts/dialog'
import { DurationField } from '../../parts/duration-field'
import { Form } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { Ago, span, wholeTime } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { recurrenceWords } from './rules'
import { TargetNames } from './target-names'

const up = { to: '/maintenance', label: 'Maintenance' }
const icon = 'size-4'
const stale = ['/maintenance-windows', '/overview', '/monitors', '/heartbeats']

/** One window: when it is in force, what it is for, and starting or stopping it by hand. */
export default function Window() {
  const { id } = useParams({ strict: false })
  const found = useOne<MaintenanceWindowView>(`/maintenance-windows/${id}`, {}, { everyMs: 15_000 })
  return (
    <Loaded found={found} up={up}>
      {window => <Shown window={window} />}
    </Loaded>
  )
}

function Shown({ window }: { window: MaintenanceWindowView }) {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'start' | 'delete' | null>(null)
  const close = () => setAsked(null)
  const path = `/maintenance-windows/${window.id}`
  const stop = useSend({ done: `${window.name} is over`, stale })
  const start = useSend({
    quiet: true,
    done: `${window.name} is in force`,
    undo: () => ({ method: 'POST', path: `${path}/stop` }),
    stale,
    onDone: close,
  })
  const remove = useSend({ done: `Deleted ${window.name}`, stale, onDone: () => void navigate({ to: '/maintenance' }) })
  const actions = mayWrite && (
    <>
      {window.current ? (
        <Button
          kind="main"
          icon={<CircleStop className={icon} aria-hidden />}
          disabled={stop.isPending}
          onClick={() => stop.mutate({ method: 'POST', path: `${path}/stop` })}
        >
          End it now
        </Button>
      ) : (
        <Button kind="main" icon={<Play className={icon} aria-hidden />} onClick={() => setAsked('start')}>
          Start now
        </Button>
      )}
      <LinkButton to="/maintenance/$id/edit" params={{ id: window.id }} icon={<Pencil className={icon} aria-hidden />}>
        Edit
      </LinkButton>
      <Menu
        label="More to do"
        items={[
          { label: 'Delete', icon: <Trash2 className={icon} aria-hidden />, bad: true, onSelect: () => setAsked('delete') },
        ]}
      />
    </>
  )
  return (
    <Page
      title={window.name}
      up={up}
      aside={<Status state={window.status === 'in_progress' ? 'in_force' : window.status} />}
      lead={window.description || undefined}
      actions={actions}
    >
      <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
        <Card title="When">
          <Facts
            rows={[
              window.current
                ? [
                    'In force',
                    <>
                      ends <Ago at={window.current.ends_at} />
                      {window.current.started_by_hand && ', started by hand'}
                    </>,
                  ]
                : null,
              ['Comes', recurrenceWords(window)],
              ['Begins', window.starts_at_local && `${window.starts_at_local.replace('T', ' ')}, ${window.timezone}`],
              window.starts_at_local ? null : ['Time zone', window.timezone],
              ['Lasts', span(window.duration_seconds * 1000)],
              ['Left out', window.exdates.length > 0 ? window.exdates.join(', ') : null],
              ['Id', <Copied text={window.id} />],
            ]}
          />
          <h3 className="mt-4 mb-1 font-medium">Next, in your time</h3>
          {window.next_occurrences.length === 0 && <p className="text-muted">It does not come again.</p>}
          <ol>
            {window.next_occurrences.map(one => (
              <li key={one.starts_at} className="flex flex-wrap gap-x-3">
                <span className="min-w-52">{wholeTime(one.starts_at)}</span>
                <span className="text-muted">
                  <Ago at={one.starts_at} />
                </span>
              </li>
            ))}
          </ol>
        </Card>
        <Card title="What it is for">
          {window.targets.all ? (
            <p>Everything in the workspace.</p>
          ) : (
            <Facts
              rows={[
                [
                  'Tags',
                  window.targets.tags.length === 0 ? null : (
                    <span className="flex flex-wrap gap-1">
                      {window.targets.tags.map(tag => (
                        <Tag key={tag}>{tag}</Tag>
                      ))}
                    </span>
                  ),
                ],
                ['Monitors', <TargetNames of="/monitors" ids={window.targets.monitors} />],
                ['Groups', <TargetNames of="/monitors" ids={window.targets.groups} />],
                ['Heartbeats', <TargetNames of="/heartbeats" ids={window.targets.heartbeats} />],
              ]}
            />
          )}
        </Card>
      </div>
      <Dialog
        open={asked === 'start'}
        onClose={close}
        title={`Start ${window.name} now`}
        description="Beside its schedule: what is planned takes place all the same."
      >
        <Form
          initial={{ duration_seconds: window.duration_seconds }}
          call={values => ({ method: 'POST', path: `${path}/start`, body: values })}
          send={start.mutateAsync}
          pending={start.isPending}
          onCancel={close}
          action="Start"
        >
          <DurationField name="duration_seconds" label="For" />
        </Form>
      </Dialog>
      <Confirm
        open={asked === 'delete'}
        onClose={close}
        title={`Delete ${window.name}?`}
        action="Delete window"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        It does not come again, and what of it is in force ends: what is down by then is told. This cannot be undone.
      </Confirm>
    </Page>
  )
}
