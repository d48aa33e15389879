import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { Card } from '../../parts/page'
import { formatLatency } from '../../parts/time'

/** The monitors with the slowest last check. */
export const Slowest = ({ monitors }: { monitors: NonNullable<OverviewView['monitors']>['slowest'] }) => (
  <Card title="Slowest responses" flush>
    <ul className="divide-y divide-line">
      {monitors.map(one => (
        <li key={one.id} className="flex items-center gap-3 px-4 py-2">
          <Link to="/monitors/$id" params={{ id: one.id }} className="min-w-0 grow truncate hover:underline">
            {one.name}
          </Link>
          <span className="shrink-0">{formatLatency(one.latency_ms)}</span>
        </li>
      ))}
    </ul>
  </Card>
)
