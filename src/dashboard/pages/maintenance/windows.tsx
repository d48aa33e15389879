import { CalendarClock } from 'lucide-react'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { BulkDelete } from '../../parts/bulk'
import { List, type Column } from '../../parts/list'
import { Status } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'
import { usePerson } from '../../session'
import { recurrenceText } from './recurrence-text'
import { scopeText } from './scope-text'

const columns: readonly Column<MaintenanceWindowView>[] = [
  { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
  { title: 'Status', width: '9rem', render: one => <Status status={one.status} /> },
  { title: 'Recurrence', showFrom: 'md', look: 'muted', onPhone: 'line', render: one => recurrenceText(one) },
  { title: 'Targets', showFrom: 'lg', look: 'muted', onPhone: 'line', render: one => scopeText(one.targets) },
  { title: 'Duration', width: '7rem', render: one => formatDuration(one.duration_seconds * 1000) },
  {
    title: 'Next occurrence',
    width: '10rem',
    render: one =>
      one.current ? (
        <>
          active, ends <RelativeTime at={one.current.ends_at} />
        </>
      ) : (
        <RelativeTime at={one.next_occurrences[0]?.starts_at} fallback="–" />
      ),
  },
]

const selection = {
  path: '/maintenance-windows/bulk',
  nouns: ['maintenance window', 'maintenance windows'],
  invalidates: ['/maintenance-windows', '/overview', '/monitors', '/heartbeats'],
} as const

/** All windows as a list, including ended ones. */
export function Windows() {
  const { canWrite } = usePerson()
  return (
    <List
      label="Maintenance windows"
      path="/maintenance-windows"
      page="/maintenance/$id"
      columns={columns}
      sort="name"
      search
      counted
      bulk={
        canWrite
          ? (rows, onSuccess) => (
              <BulkDelete
                of={{ ...selection, rows, onSuccess }}
                text="This cancels all their upcoming occurrences. Active windows end, and you get alerts about anything that is still down. This can’t be undone."
              />
            )
          : undefined
      }
      empty={{
        icon: CalendarClock,
        title: 'No maintenance scheduled',
        text: 'Schedule maintenance for planned work, so that no alerts are sent while it lasts.',
      }}
    />
  )
}
