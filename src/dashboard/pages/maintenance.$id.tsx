import { CircleStop, Pencil, Play, Trash2 } from 'lucide-react'
import type { MaintenanceWindowView } from '../../features/maintenance/shapes'
import { hubNow } from '../hub-clock'
import type { Page as Listing } from '../client'
import { Button, LinkButton } from '../parts/button'
import { CopyableText } from '../parts/code'
import { DurationField } from '../parts/duration-field'
import { Menu } from '../parts/menu'
import { confirmDelete, openForm } from '../parts/open-dialog'
import { Card, Facts, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { SendButton } from '../parts/send-button'
import { Status, Tags } from '../parts/status'
import { RelativeTime, TimeList, formatDuration, formatLocal } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { recurrenceText } from './maintenance/recurrence-text'
import { TargetNames } from './maintenance/target-names'

const dayMs = 86_400_000
const shownDays = 365
const maxShown = 12
const invalidates = ['/maintenance-windows', '/overview', '/monitors', '/heartbeats']

/** The page of a maintenance window: its schedule and targets, with manual start and stop. */
export default resourcePage({ path: '/maintenance-windows', parent: '/maintenance', refetchMs: 15_000 }, Details)

function Details({ resource: window }: { resource: MaintenanceWindowView }) {
  const { canWrite } = usePerson()
  const path = `/maintenance-windows/${window.id}`
  // Most recurrences have several within this time.
  const to = new Date(Math.floor(hubNow() / dayMs + shownDays) * dayMs).toISOString()
  const occurrences = useOne<Listing<MaintenanceWindowView['next_occurrences'][number]>>(`${path}/occurrences`, {
    to,
    limit: maxShown,
  })
  const stop = { method: 'POST', path: `${path}/stop` } as const
  const start = () =>
    openForm({
      title: `Start ${window.name} now`,
      description: 'Suppresses alerts from now on. Scheduled occurrences are not affected.',
      submitLabel: 'Start maintenance',
      initial: { duration_seconds: window.duration_seconds },
      call: values => ({ method: 'POST', path: `${path}/start`, body: values }),
      send: { toast: `${window.name} started`, undo: () => stop, invalidates },
      fields: <DurationField name="duration_seconds" label="Duration" />,
    })
  const remove = () =>
    confirmDelete({
      noun: 'maintenance window',
      name: window.name,
      path,
      invalidates,
      next: '/maintenance',
      text: 'This cancels all upcoming occurrences. If the window is active, it ends, and you get alerts about anything that is still down. This can’t be undone.',
    })
  const actions = canWrite && (
    <>
      {window.current ? (
        <SendButton kind="primary" icon={CircleStop} call={stop} send={{ toast: `${window.name} stopped`, invalidates }}>
          Stop now
        </SendButton>
      ) : (
        <Button kind="primary" icon={Play} onClick={start}>
          Start now
        </Button>
      )}
      <LinkButton to="/maintenance/$id/edit" params={{ id: window.id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu label="More actions" items={[{ label: 'Delete', icon: Trash2, danger: true, onSelect: remove }]} />
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
                    'Current occurrence',
                    <>
                      ends <RelativeTime at={window.current.ends_at} />
                      {window.current.started_manually && ', started manually'}
                    </>,
                  ]
                : null,
              ['Recurrence', recurrenceText(window)],
              [
                window.kind === 'once' ? 'Start' : 'First start',
                window.starts_at_local && `${formatLocal(window.starts_at_local)} ${window.timezone}`,
              ],
              window.starts_at_local ? null : ['Time zone', window.timezone],
              ['Duration', formatDuration(window.duration_seconds * 1000)],
              ['Skipped occurrences', window.exdates.length > 0 && window.exdates.map(formatLocal).join('; ')],
              ['ID', <CopyableText text={window.id} />],
            ]}
          />
          <h3 className="mt-4 mb-1 font-medium">Next occurrences, in your time zone</h3>
          <div className={window.kind === 'once' ? '' : 'min-h-64'}>
            <TimeList
              times={(occurrences.data?.data ?? window.next_occurrences).map(one => one.starts_at)}
              empty="No upcoming occurrences."
            />
          </div>
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
    </Page>
  )
}
