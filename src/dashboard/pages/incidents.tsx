import { useNavigate } from '@tanstack/react-router'
import { Siren } from 'lucide-react'
import { useMemo } from 'react'
import { hubNow } from '../hub-clock'
import type { MemberView } from '../../features/people/members/shapes'
import type { IncidentView } from '../../features/incidents/shapes'
import type { Page as Listing } from '../client'
import { useUrlState } from '../parts/url-state'
import { Button } from '../parts/button'
import { ListPage, type Column } from '../parts/list'
import { openForm } from '../parts/open-dialog'
import { pluralize } from '../parts/plural'
import { severityLabels, SeverityIcon } from '../parts/severity'
import { capitalize } from '../parts/status'
import { RelativeTime, ElapsedTime, formatDuration } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { kindLabels } from './incidents/kind-labels'
import { IncidentStatus } from './incidents/incident-status'
import { createIncident } from './incidents/new-incident'

const columns: readonly Column<IncidentView>[] = [
  {
    title: 'Incident',
    render: one => (
      <span className="flex items-center gap-2">
        <SeverityIcon severity={one.severity} />
        <span className="min-w-0 font-medium">{one.title}</span>
      </span>
    ),
  },
  { title: 'Status', width: '9rem', render: one => <IncidentStatus incident={one} /> },
  { title: 'Cause', showFrom: 'lg', look: 'muted', onPhone: 'line', render: one => one.cause },
  { title: 'Started', width: '10rem', sort: 'started_at', render: one => <RelativeTime at={one.started_at} /> },
  {
    title: 'Duration',
    width: '8rem',
    alignRight: true,
    render: one => (one.resolved_at ? formatDuration(one.duration_seconds * 1000) : <ElapsedTime at={one.started_at} />),
  },
]

const unresolved = 'open,acknowledged'
const statuses = {
  [unresolved]: 'Unresolved',
  open: 'Open',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
  all: 'All statuses',
}
const periods = { 1: 'Last 24 hours', 7: 'Last 7 days', 30: 'Last 30 days' }

/** List of incidents. */
export default function Incidents() {
  const { canWrite, canReadAccount } = usePerson()
  const navigate = useNavigate()
  const [{ days }] = useUrlState({ days: '' })
  const members = useOne<Listing<MemberView>>(canReadAccount ? '/members' : null, { limit: 100 })
  // Memoized: a changing value would reload the list on every render.
  const from = useMemo(() => (days === '' ? null : daysAgo(Number(days))), [days])
  const assignees = members.data?.data.map(one => [one.id, one.name] as const)
  return (
    <ListPage<IncidentView>
      label="Incidents"
      description="Outages and other problems of your monitors and heartbeats."
      path="/incidents"
      page="/incidents/$id"
      create={
        canWrite && { label: 'Create incident', onClick: () => createIncident(id => void navigate({ to: `/incidents/${id}` })) }
      }
      columns={columns}
      sort="-started_at"
      search
      counted
      query={({ q, severity, kind, tag, sort, status, assignee }) => ({
        q,
        severity,
        kind,
        tag,
        sort,
        from,
        status: status === 'all' ? null : status,
        assignee_id: assignee,
      })}
      filters={[
        { name: 'status', label: 'Status', initial: unresolved, choices: statuses },
        { name: 'severity', label: 'Severity', all: 'All severities', choices: severityLabels },
        { name: 'kind', label: 'Type', all: 'All types', choices: kindLabels },
        canReadAccount && { name: 'assignee', label: 'Assignee', all: 'Any assignee', choices: assignees ?? [] },
        { name: 'days', label: 'Time', all: 'Any time', choices: periods },
        { name: 'tag', label: 'Tag' },
      ]}
      bulk={
        canWrite
          ? (rows, clear) =>
              (['acknowledge', 'resolve'] as const).map(op => (
                <Button key={op} small onClick={() => updateAll(op, rows, clear)}>
                  {capitalize(op)}
                </Button>
              ))
          : undefined
      }
      empty={{
        icon: Siren,
        title: 'No unresolved incidents',
        text: 'Monitors and heartbeats open an incident when they fail and resolve it when they recover.',
      }}
    />
  )
}

const bulkTexts = {
  acknowledge:
    'Stops reminders for 4 hours. If an incident isn’t resolved by then, its status is open again and reminders resume.',
  resolve: 'If a monitor or heartbeat is still failing, no new incident opens until it recovers and fails again, or gets worse.',
}

/** Acknowledges or resolves the selected incidents, after a confirmation. Those that can’t be are skipped. */
const updateAll = (op: keyof typeof bulkTexts, rows: readonly IncidentView[], onSuccess: () => void) =>
  openForm<{ succeeded: number; failed: number }>({
    title: `${capitalize(op)} ${pluralize(rows.length, 'incident', 'incidents')}`,
    description: bulkTexts[op],
    submitLabel: capitalize(op),
    initial: {},
    call: () => ({
      method: 'POST',
      path: '/incidents/bulk',
      query: { mode: 'partial' },
      body: { operations: rows.map(({ id }) => ({ op, id, body: {} })) },
    }),
    send: {
      toast: ({ succeeded, failed }) =>
        `${pluralize(succeeded, 'incident', 'incidents')} updated${failed > 0 ? `, ${failed.toLocaleString()} skipped` : ''}`,
      invalidates: ['/incidents', '/overview'],
      onSuccess,
    },
    fields: null,
  })

const dayMs = 86_400_000
const daysAgo = (count: number): string => new Date(hubNow() - count * dayMs).toISOString()
