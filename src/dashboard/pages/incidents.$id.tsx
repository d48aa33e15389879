import type { IncidentView } from '../../features/incidents/shapes'
import type { MemberView } from '../../features/people/members/shapes'
import type { Page as Listing } from '../client'
import { CopyableText } from '../parts/code'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ResourceLinks } from '../parts/resource'
import { severityLabels } from '../parts/severity'
import { Tag } from '../parts/status'
import { RelativeTime, ElapsedTime, formatDuration, formatDateTime } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { resolutionLabels } from './incidents/kind-labels'
import { Changes } from './incidents/changes'
import { JournalsBefore } from './incidents/journal-before'
import { Evidence } from './incidents/evidence'
import { Notifications } from './incidents/notifications'
import { Postmortem } from './incidents/postmortem'
import { Timeline } from './incidents/timeline'
import { IncidentActions } from './incidents/incident-actions'
import { IncidentStatus } from './incidents/incident-status'

/** An incident with its timeline, evidence, recent changes, and postmortem. */
export default resourcePage({ path: '/incidents', parent: '/incidents' }, IncidentPage)

function IncidentPage({ resource: incident }: { resource: IncidentView }) {
  const { canReadAccount } = usePerson()
  const { assignee_id: assignee } = incident
  const members = useOne<Listing<MemberView>>(canReadAccount && assignee !== null ? '/members' : null, { limit: 100 })
  const affected = [
    ...incident.monitors.map(one => ({ ...one, type: 'monitor' })),
    ...incident.heartbeats.map(one => ({ ...one, type: 'heartbeat' })),
    ...incident.tls_endpoints.map(one => ({ ...one, type: 'tls_endpoint' })),
    ...incident.certificates.map(one => ({ ...one, type: 'certificate' })),
  ]
  const links = (role: string) => {
    const own = affected.filter(one => one.role === role)
    return own.length > 0 && <ResourceLinks of={own} />
  }
  const elapsed = incident.resolved_at ? (
    formatDuration(incident.duration_seconds * 1000)
  ) : (
    <ElapsedTime at={incident.started_at} />
  )
  return (
    <Page
      title={incident.title}
      parent="/incidents"
      aside={
        <>
          <IncidentStatus incident={incident} />
          <span className="text-[13px] text-muted">{severityLabels[incident.severity]}</span>
        </>
      }
      description={incident.cause === incident.title ? undefined : incident.cause}
      actions={<IncidentActions incident={incident} />}
    >
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem] lg:items-start">
        <div className="flex min-w-0 flex-col gap-4">
          <Timeline incident={incident} />
          {incident.evidence && <Evidence evidence={incident.evidence} />}
          <JournalsBefore incident={incident} />
          <Changes incident={incident} />
          <Postmortem incident={incident} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Card
            title="Details"
            facts={[
              ['Duration', <span className="font-semibold">{elapsed}</span>],
              [
                'Started',
                <span title={formatDateTime(incident.started_at)}>
                  <RelativeTime at={incident.started_at} />
                </span>,
              ],
              ['Confirmed', <RelativeTime at={incident.confirmed_at} fallback="Not yet" />],
              ['Resolved', incident.resolved_at && <RelativeTime at={incident.resolved_at} />],
              ['Resolution', incident.resolution && <Tag>{resolutionLabels[incident.resolution]}</Tag>],
              ['Failed resources', links('cause')],
              ['Affected resources', links('affected')],
              ['Locations', incident.locations.join(', ') || null],
              ['Assignee', assignee && (members.data?.data.find(one => one.id === assignee)?.name ?? assignee)],
              ['Acknowledged by', incident.acknowledged_by?.name ?? incident.acknowledged_by?.id],
              [
                'Acknowledgement expires',
                incident.status === 'acknowledged' ? (
                  <RelativeTime at={incident.acknowledgement_expires_at} fallback="Never" />
                ) : null,
              ],
              ['Notes', incident.notes !== '' ? <span className="whitespace-pre-wrap">{incident.notes}</span> : null],
              ['ID', <CopyableText text={incident.id} />],
            ]}
          />
          <Notifications incident={incident} />
        </div>
      </div>
    </Page>
  )
}
