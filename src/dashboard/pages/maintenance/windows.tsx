import { CalendarClock } from 'lucide-react'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { List, type Column } from '../../parts/list'
import { Status } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'
import { recurrenceText } from './recurrence-text'
import { scopeText } from './scope-text'

const columns: readonly Column<MaintenanceWindowView>[] = [
  { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
  { title: 'Status', width: '9rem', render: one => <Status status={one.status} /> },
  { title: 'Recurrence', showFrom: 'md', look: 'muted', render: one => recurrenceText(one) },
  { title: 'Targets', showFrom: 'lg', look: 'muted', render: one => scopeText(one.targets) },
  { title: 'Duration', width: '7rem', showFrom: 'sm', render: one => formatDuration(one.duration_seconds * 1000) },
  {
    title: 'Next occurrence',
    width: '9rem',
    showFrom: 'sm',
    render: one =>
      one.current ? (
        <>
          ends <RelativeTime at={one.current.ends_at} />
        </>
      ) : (
        <RelativeTime at={one.next_occurrences[0]?.starts_at} fallback="–" />
      ),
  },
]

/** All windows as a list, including ended ones. */
export const Windows = () => (
  <List
    label="Maintenance windows"
    path="/maintenance-windows"
    page="/maintenance/$id"
    columns={columns}
    sort="name"
    search
    counted
    empty={{
      icon: CalendarClock,
      title: 'No maintenance scheduled',
      text: 'Schedule maintenance for planned work, so that no alerts are sent while it lasts.',
    }}
  />
)
