import { ListChecks } from 'lucide-react'
import type { ActionView } from '../../features/actions/shapes'
import { actorName } from '../parts/actor'
import { ListPage, type Column } from '../parts/list'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { Progress } from './actions/progress'
import { statusLabelOf, titleOf } from './actions/action-title'

const columns: readonly Column<ActionView>[] = [
  { title: 'Action', look: 'strong', render: one => titleOf(one) },
  { title: 'Status', width: '9rem', render: one => <Status status={one.status} label={statusLabelOf(one)} /> },
  { title: 'Progress', width: '11rem', showFrom: 'md', render: one => <Progress action={one} /> },
  { title: 'Actor', showFrom: 'lg', render: one => actorName(one.actor) },
  { title: 'Created', width: '9rem', sort: 'created_at', render: one => <RelativeTime at={one.created_at} /> },
]

const statuses = { pending: 'Pending', running: 'Running', success: 'Succeeded', error: 'Failed', canceled: 'Canceled' }

/** List of background actions. */
export default function Actions() {
  return (
    <ListPage
      label="Actions"
      description="Background operations from the last 30 days, with their progress and results."
      path="/actions"
      page="/actions/$id"
      columns={columns}
      sort="-created_at"
      refetchMs={5000}
      filters={[{ name: 'status', label: 'Status', all: 'All statuses', choices: statuses }]}
      empty={{ icon: ListChecks, text: 'Rollouts, imports, delivery recoveries, and other long-running operations appear here.' }}
    />
  )
}
