import { useParams } from '@tanstack/react-router'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Copied } from '../../parts/code'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { severityMood } from '../../parts/severity'
import { Status, Tag } from '../../parts/status'
import { Ago, Since, span, wholeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { Changes } from './changes'
import { Evidence } from './evidence'
import { Messages } from './messages'
import { Postmortem } from './postmortem'
import { Timeline } from './timeline'
import { Verbs } from './verbs'

const up = { to: '/incidents', label: 'Incidents' }

/** The room of one incident: what failed, what changed before, who does what, and what was learned. */
export default function Incident() {
  const { id } = useParams({ strict: false })
  const found = useOne<IncidentView>(`/incidents/${id}`)
  return (
    <Loaded found={found} up={up}>
      {incident => <Room incident={incident} />}
    </Loaded>
  )
}

function Room({ incident }: { incident: IncidentView }) {
  const affected = [...incident.monitors, ...incident.heartbeats]
  const links = (role: string) => {
    const own = affected.filter(one => one.role === role)
    if (own.length === 0) return null
    return own.map(one => (
      <div key={one.id}>
        <ResourceLink id={one.id} type={one.id.startsWith('mon_') ? 'monitor' : 'heartbeat'} name={one.name} />
      </div>
    ))
  }
  const lasted = incident.resolved_at ? span(incident.duration_seconds * 1000) : <Since at={incident.started_at} />
  return (
    <Page
      title={incident.title}
      up={up}
      aside={
        <>
          <Status state={incident.status} />
          <Status state={incident.severity} mood={severityMood[incident.severity]} />
        </>
      }
      lead={incident.cause}
      actions={<Verbs incident={incident} />}
    >
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem] lg:items-start">
        <div className="flex min-w-0 flex-col gap-4">
          <Timeline incident={incident} />
          <Changes incident={incident} />
          {incident.evidence && <Evidence evidence={incident.evidence} />}
          <Postmortem incident={incident} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Card title="Facts">
            <Facts
              rows={[
                [incident.resolved_at ? 'Lasted' : 'Lasts', <span className="font-semibold">{lasted}</span>],
                [
                  'First failure',
                  <span title={wholeTime(incident.started_at)}>
                    <Ago at={incident.started_at} />
                  </span>,
                ],
                ['Confirmed', <Ago at={incident.confirmed_at} never="not yet" />],
                ['Resolved', incident.resolved_at && <Ago at={incident.resolved_at} />],
                ['Ended as', incident.resolution && <Tag>{incident.resolution}</Tag>],
                ['Failed', links('cause')],
                ['Affected', links('affected')],
                ['Seen from', incident.locations.join(', ') || null],
                ['Seen to by', incident.acknowledged_by?.name ?? incident.acknowledged_by?.id],
                [
                  'Open again',
                  incident.status === 'acknowledged' ? (
                    <Ago at={incident.acknowledgement_expires_at} never="not by itself" />
                  ) : null,
                ],
                ['Notes', incident.notes !== '' ? <span className="whitespace-pre-wrap">{incident.notes}</span> : null],
                ['Id', <Copied text={incident.id} />],
              ]}
            />
          </Card>
          <Messages incident={incident} />
        </div>
      </div>
    </Page>
  )
}
