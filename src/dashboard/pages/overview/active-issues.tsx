import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { OverviewView } from '../../../features/overview/shapes'
import { pluralize } from '../../parts/plural'
import { Card } from '../../parts/page'
import { SeverityIcon } from '../../parts/severity'
import { SendButton } from '../../parts/send-button'
import { StatusIcon, humanize } from '../../parts/status'
import { ElapsedTime } from '../../parts/time'
import { usePerson } from '../../session'
import type { Issue } from './issues'

/** Active issues: open incidents first, then other problems. */
export function ActiveIssues({ overview, issues }: { overview: OverviewView; issues: readonly Issue[] }) {
  const incidents = overview.incidents?.data ?? []
  const hidden = (overview.incidents?.total ?? 0) - incidents.length
  const unlisted = (overview.dns?.records_out_of_sync ?? 0) - (overview.dns?.unsynced_records.length ?? 0)
  if (incidents.length === 0 && issues.length === 0) {
    return (
      <Card title="Active issues">
        <p className="flex items-center gap-2 text-muted">
          <CircleCheck className="size-4 text-ok" aria-hidden />
          No open incidents or other active issues.
        </p>
      </Card>
    )
  }
  return (
    <Card title="Active issues" flush>
      <ul className="divide-y divide-line">
        {incidents.map(one => (
          <Incident key={one.id} incident={one} />
        ))}
        {hidden > 0 && <More to="/incidents" label={pluralize(hidden, 'more incident', 'more incidents')} />}
        {issues.map(one => (
          <Row key={one.id} icon={<StatusIcon status={one.state} tone={one.tone} className="mt-0.5 size-4" />} {...one} />
        ))}
        {unlisted > 0 && (
          <More
            to="/dns"
            search={{ state: 'out_of_sync' }}
            label={pluralize(unlisted, 'more record out of sync', 'more records out of sync')}
          />
        )}
      </ul>
    </Card>
  )
}

function Incident({ incident }: { incident: IncidentView }) {
  const { canWrite } = usePerson()
  const path = `/incidents/${incident.id}`
  const isAcknowledged = incident.status === 'acknowledged'
  return (
    <Row
      icon={<SeverityIcon severity={incident.severity} className="mt-0.5" />}
      state={incident.status}
      title={incident.title}
      reason={[
        incident.cause !== incident.title && incident.cause,
        isAcknowledged && `Acknowledged by ${incident.acknowledged_by?.name ?? 'someone'}.`,
      ]
        .filter(Boolean)
        .join(' · ')}
      to={path}
      since={incident.started_at}
    >
      {canWrite && !isAcknowledged && (
        <SendButton
          small
          aria-label={`Acknowledge ${incident.title}`}
          call={{ method: 'POST', path: `${path}/acknowledge`, body: {} }}
          send={{
            toast: 'Incident acknowledged for 4 hours',
            undo: () => ({ method: 'POST', path: `${path}/unacknowledge`, body: {} }),
            invalidates: ['/overview', '/incidents'],
          }}
        >
          Acknowledge
        </SendButton>
      )}
    </Row>
  )
}

type RowProps = Omit<Issue, 'id' | 'tone'> & {
  icon: ReactNode
  children?: ReactNode
}

const Row = ({ icon, state, hidesStatus, title, reason, to, search = {}, since, children }: RowProps) => (
  <li className="flex items-start gap-3 px-4 py-2.5 hover:bg-hover">
    {icon}
    <div className="min-w-0 grow">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <Link to={to} search={search} className="font-medium wrap-anywhere hover:underline">
          {title}
        </Link>
        <span className="text-[13px] text-muted">
          {hidesStatus ? <span className="sr-only">{humanize(state)}</span> : humanize(state)}
          {since && (
            <>
              {' · '}
              <ElapsedTime at={since} />
            </>
          )}
        </span>
      </p>
      <p className="line-clamp-2 text-[13px] wrap-anywhere text-muted">{reason}</p>
    </div>
    {children}
  </li>
)

const More = ({ to, search = {}, label }: { to: string; search?: Record<string, string>; label: string }) => (
  <li className="px-4 py-2.5 pl-11">
    <Link to={to} search={search} className="text-accent hover:underline">
      {label}
    </Link>
  </li>
)
