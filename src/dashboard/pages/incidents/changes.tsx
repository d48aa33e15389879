import type { Static } from '@sinclair/typebox'
import type { AuditEventView } from '../../../features/audit/shapes'
import type { IncidentChange } from '../../../features/incidents/changes/shapes'
import type { IncidentView } from '../../../features/incidents/shapes'
import { useState } from 'react'
import { AuditSentence } from '../../parts/audit-sentence'
import { Button } from '../../parts/button'
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

const maxShown = 5
const maxChanges = 100

/** Related changes shortly before the incident, newest first. Others are shown on demand. */
export function Changes({ incident }: { incident: IncidentView }) {
  const { data } = useOne<{ data: Change[] }>(`/incidents/${incident.id}/changes`, { limit: maxChanges })
  const [showsAll, setShowsAll] = useState(false)
  if (!data) return <div className="h-28 animate-pulse rounded-lg bg-hover" />
  const all = data.data.toSorted((one, other) => one.seconds_before - other.seconds_before)
  const related = all.filter(one => one.relation !== 'none')
  const shown = showsAll ? all : related.slice(0, maxShown)
  return (
    <Card title="Changes before the incident">
      {shown.length === 0 && (
        <p className="text-muted">No known {all.length > 0 && 'related '}changes in the 24 hours before the incident.</p>
      )}
      <ul className="flex flex-col gap-2">
        {shown.map(one => (
          <li key={one.id} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5">
            <span className="w-40 shrink-0 text-muted">{timeText(one.seconds_before)}</span>
            <span className="min-w-0 grow basis-64 wrap-anywhere">
              {one.source === 'audit' && one.actor ? <Audited change={one} actor={one.actor} /> : <Event change={one} />}
            </span>
            {one.relation !== 'none' && <Tag>{relations[one.relation]}</Tag>}
          </li>
        ))}
      </ul>
      {shown.length < all.length && (
        <Button small kind="quiet" className="mt-2" onClick={() => setShowsAll(true)}>
          Show all changes
        </Button>
      )}
    </Card>
  )
}

function timeText(secondsBefore: number): string {
  if (secondsBefore === 0) return 'just before'
  const duration = formatDuration(Math.abs(secondsBefore) * 1000)
  return secondsBefore > 0 ? `${duration} before` : `detected ${duration} after`
}

/** A change from the audit log, in its words. */
const Audited = ({ change: { kind, resource }, actor }: { change: Change; actor: NonNullable<Change['actor']> }) => (
  <AuditSentence
    event={{
      action: kind,
      outcome: 'success',
      actor: { ...actor, hint: null } as AuditEventView['actor'],
      targets: resource ? [resource] : [],
    }}
    linked
  />
)

const Event = ({ change: { summary, records, resource, actor } }: { change: Change }) => (
  <>
    {records.length === 0
      ? summary
      : records.map((one, at) => (
          <span key={at} className="block">
            {recordText(one)}
          </span>
        ))}
    <span className="block text-[13px] text-muted">
      {resource && <ResourceLink {...resource} />}
      {resource && actor && ' · '}
      {actor && `by ${actor.name ?? actor.id}`}
    </span>
  </>
)

/** “A shop.example.com: changed from 192.0.2.10 to 192.0.2.20” */
function recordText({ type, fqdn, before, after }: Change['records'][number]): string {
  const name = `${type} ${fqdn}`
  if (!before) return `${name}: ${after?.content} added`
  if (!after) return `${name}: ${before.content} deleted`
  return before.content === after.content
    ? `${name}: TTL of ${before.content} changed from ${before.ttl} to ${after.ttl} s`
    : `${name}: changed from ${before.content} to ${after.content}`
}
