import { CircleStop, Pencil, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { MaintenanceWindowView } from '../../features/maintenance/shapes'
import { Button, LinkButton } from '../parts/button'
import { CopyableText } from '../parts/code'
import { Dialog, DeleteDialog } from '../parts/dialog'
import { DurationField } from '../parts/duration-field'
import { Form } from '../parts/form'
import { Menu } from '../parts/menu'
import { Card, Facts, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Status, Tags } from '../parts/status'
import { RelativeTime, formatDuration, formatDateTime } from '../parts/time'
import { useSend } from '../queries'
import { usePerson } from '../session'
import { recurrenceText } from './maintenance/recurrence-text'
import { TargetNames } from './maintenance/target-names'

const invalidates = ['/maintenance-windows', '/overview', '/monitors', '/heartbeats']

/** The page of a maintenance window: its schedule and targets, with manual start and stop. */
export default resourcePage<MaintenanceWindowView>(
  { path: '/maintenance-windows', parent: '/maintenance', refetchMs: 15_000 },
  window => <Details window={window} />,
)

function Details({ window }: { window: MaintenanceWindowView }) {
  const { canWrite } = usePerson()
  const [open, setOpen] = useState<'start' | 'delete' | null>(null)
  const close = () => setOpen(null)
  const path = `/maintenance-windows/${window.id}`
  const stop = useSend({ toast: `${window.name} stopped`, invalidates })
  const actions = canWrite && (
    <>
      {window.current ? (
        <Button
          kind="primary"
          icon={CircleStop}
          disabled={stop.isPending}
          onClick={() => stop.mutate({ method: 'POST', path: `${path}/stop` })}
        >
          Stop now
        </Button>
      ) : (
        <Button kind="primary" icon={Play} onClick={() => setOpen('start')}>
          Start now
        </Button>
      )}
      <LinkButton to="/maintenance/$id/edit" params={{ id: window.id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu label="More actions" items={[{ label: 'Delete', icon: Trash2, danger: true, onSelect: () => setOpen('delete') }]} />
    </>
  )
  return (
    <Page
      title={window.name}
      parent="/maintenance"
      aside={<Status status={window.status} />}
      description={window.description || undefined}
      actions={actions}
    >
      <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
        <Card title="Schedule">
          <Facts
            rows={[
              window.current
                ? [
                    'Active',
                    <>
                      ends <RelativeTime at={window.current.ends_at} />
                      {window.current.started_manually && ', started manually'}
                    </>,
                  ]
                : null,
              ['Recurrence', recurrenceText(window)],
              [
                window.kind === 'once' ? 'Start' : 'First start',
                window.starts_at_local && `${window.starts_at_local.replace('T', ' ')}, ${window.timezone}`,
              ],
              window.starts_at_local ? null : ['Time zone', window.timezone],
              ['Duration', formatDuration(window.duration_seconds * 1000)],
              ['Skipped', window.exdates.length > 0 ? window.exdates.join(', ') : null],
              ['ID', <CopyableText text={window.id} />],
            ]}
          />
          <h3 className="mt-4 mb-1 font-medium">Next occurrences, in your time zone</h3>
          {window.next_occurrences.length === 0 && <p className="text-muted">No upcoming occurrences.</p>}
          <ol>
            {window.next_occurrences.map(one => (
              <li key={one.starts_at} className="flex flex-wrap gap-x-3">
                <span className="min-w-52">{formatDateTime(one.starts_at)}</span>
                <span className="text-muted">
                  <RelativeTime at={one.starts_at} />
                </span>
              </li>
            ))}
          </ol>
        </Card>
        <Card title="Targets">
          {window.targets.all ? (
            <p>Everything in the workspace.</p>
          ) : (
            <Facts
              rows={[
                ['Tags', window.targets.tags.length > 0 && <Tags tags={window.targets.tags} />],
                ['Monitors', <TargetNames of="/monitors" ids={window.targets.monitors} />],
                ['Groups', <TargetNames of="/monitors" ids={window.targets.groups} />],
                ['Heartbeats', <TargetNames of="/heartbeats" ids={window.targets.heartbeats} />],
              ]}
            />
          )}
        </Card>
      </div>
      <Dialog
        open={open === 'start'}
        onClose={close}
        title={`Start ${window.name} now`}
        description="Starts in addition to the schedule. Scheduled occurrences are not affected."
      >
        <Form
          initial={{ duration_seconds: window.duration_seconds }}
          call={values => ({ method: 'POST', path: `${path}/start`, body: values })}
          send={{
            toast: `${window.name} started`,
            undo: () => ({ method: 'POST', path: `${path}/stop` }),
            invalidates,
            onSuccess: close,
          }}
          onCancel={close}
          submitLabel="Start maintenance"
        >
          <DurationField name="duration_seconds" label="Duration" />
        </Form>
      </Dialog>
      <DeleteDialog
        open={open === 'delete'}
        onClose={close}
        noun="maintenance window"
        name={window.name}
        path={path}
        invalidates={invalidates}
        parent="/maintenance"
      >
        All upcoming occurrences are deleted. If the window is active, it ends, and alerts are sent for anything that is still
        down. This can’t be undone.
      </DeleteDialog>
    </Page>
  )
}
