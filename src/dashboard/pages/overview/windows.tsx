import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { Card } from '../../parts/page'
import { StatusIcon } from '../../parts/status'
import { Ago, span } from '../../parts/time'

type Maintenance = NonNullable<OverviewView['maintenance']>

/** Maintenance that is in force, and what comes next. */
export function Windows({ maintenance: { in_force: inForce, next } }: { maintenance: Maintenance }) {
  const isNone = inForce.length === 0 && next.length === 0
  return (
    <Card
      title="Maintenance"
      flush
      actions={
        <Link to="/maintenance" className="text-[13px] text-accent hover:underline">
          Calendar
        </Link>
      }
    >
      {isNone && <p className="px-4 py-3 text-muted">Nothing is planned.</p>}
      <ul className="divide-y divide-line">
        {inForce.map(one => (
          <Window key={one.id} window={one} isNow />
        ))}
        {next.map(one => (
          <Window key={one.id + one.starts_at} window={one} />
        ))}
      </ul>
    </Card>
  )
}

function Window({ window, isNow }: { window: Maintenance['next'][number]; isNow?: boolean }) {
  const lasts = new Date(window.ends_at).getTime() - new Date(window.starts_at).getTime()
  return (
    <li className="flex items-center gap-3 px-4 py-2">
      <StatusIcon state={isNow ? 'in_force' : 'scheduled'} className="size-4" />
      <Link to="/maintenance/$id" params={{ id: window.id }} className="min-w-0 grow truncate hover:underline">
        {window.name}
      </Link>
      <span className="shrink-0 text-[13px] text-muted">
        {isNow ? 'ends ' : ''}
        <Ago at={isNow ? window.ends_at : window.starts_at} />
        {!isNow && `, for ${span(lasts)}`}
      </span>
    </li>
  )
}
