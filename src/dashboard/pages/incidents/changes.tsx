import type { Static } from '@sinclair/typebox'
import type { IncidentChange } from '../../../features/incidents/change-shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Tag } from '../../parts/status'
import { span } from '../../parts/time'
import { useOne } from '../../queries'

type Change = Static<typeof IncidentChange>

const relations: Record<Change['relation'], string> = {
  name: 'its name in DNS',
  subject: 'what failed',
  zone: 'its zone',
  tag: 'same tag',
  deployment: 'deployment',
  none: 'elsewhere',
}

/** What changed just before, the closest to it first: where to look. */
export function Changes({ incident }: { incident: IncidentView }) {
  const { data } = useOne<{ data: Change[] }>(`/incidents/${incident.id}/changes`)
  if (!data) return <div className="h-28 animate-pulse rounded-lg bg-hover" />
  return (
    <Card title="What changed just before">
      {data.data.length === 0 && <p className="text-muted">Nothing that the hub knows of, in the day before it.</p>}
      <ul className="flex flex-col gap-2">
        {data.data.map(one => (
          <li key={one.id} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
            <span className="w-32 shrink-0 text-muted">
              {one.seconds_before >= 0
                ? `${span(one.seconds_before * 1000)} before`
                : `found ${span(-one.seconds_before * 1000)} after`}
            </span>
            <span className="min-w-0 grow basis-64 wrap-anywhere">
              {one.summary}
              <span className="text-muted">
                {one.actor && ` by ${one.actor.name ?? one.actor.id}`}
                {one.resource && (
                  <>
                    {' · '}
                    <ResourceLink {...one.resource} />
                  </>
                )}
              </span>
            </span>
            {one.relation !== 'none' && <Tag>{relations[one.relation]}</Tag>}
          </li>
        ))}
      </ul>
    </Card>
  )
}
