import type { Static } from '@sinclair/typebox'
import type { IncidentChange } from '../../../features/incidents/changes/shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Tag } from '../../parts/status'
import { formatDuration } from '../../parts/time'
import { useOne } from '../../queries'

type Change = Static<typeof IncidentChange>

const relations: Record<Change['relation'], string> = {
  name: 'DNS records of the target',
  subject: 'failed resource',
  zone: 'same zone',
  tag: 'same tag',
  deployment: 'deployment',
  none: 'unrelated',
}

// The resource is shown as a link below the summary.
const summaryOf = ({ summary, resource }: Change): string =>
  resource?.name && summary.startsWith(`${resource.name}: `) ? summary.slice(resource.name.length + 2) : summary

/** Changes shortly before the incident, related ones first. */
export function Changes({ incident }: { incident: IncidentView }) {
  const { data } = useOne<{ data: Change[] }>(`/incidents/${incident.id}/changes`)
  if (!data) return <div className="h-28 animate-pulse rounded-lg bg-hover" />
  return (
    <Card title="Changes before the incident">
      {data.data.length === 0 && <p className="text-muted">No known changes in the 24 hours before the incident.</p>}
      <ul className="flex flex-col gap-2">
        {data.data.map(one => (
          <li key={one.id} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
            <span className="w-40 shrink-0 text-muted">
              {one.seconds_before >= 0
                ? `${formatDuration(one.seconds_before * 1000)} before`
                : `detected ${formatDuration(-one.seconds_before * 1000)} after`}
            </span>
            <span className="min-w-0 grow basis-64 wrap-anywhere">
              {summaryOf(one)}
              <span className="block text-[13px] text-muted">
                {one.resource && <ResourceLink {...one.resource} />}
                {one.resource && one.actor && ' · '}
                {one.actor && `by ${one.actor.name ?? one.actor.id}`}
              </span>
            </span>
            {one.relation !== 'none' && <Tag>{relations[one.relation]}</Tag>}
          </li>
        ))}
      </ul>
    </Card>
  )
}
