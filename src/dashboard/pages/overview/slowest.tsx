import { Link } from '@tanstack/react-router'
import type { OverviewView } from '../../../features/overview/shapes'
import { ListCard } from '../../parts/list-card'
import { formatLatency } from '../../parts/time'

/** The monitors with the slowest last check. */
export const Slowest = ({ monitors }: { monitors: NonNullable<OverviewView['monitors']>['slowest'] }) => (
  <ListCard title="Slowest responses" rows={monitors} rowClass="flex items-center gap-3">
    {one => (
      <>
        <Link to="/monitors/$id" params={{ id: one.id }} className="min-w-0 grow wrap-anywhere hover:underline">
          {one.name}
        </Link>
        <span className="shrink-0">{formatLatency(one.latency_ms)}</span>
      </>
    )}
  </ListCard>
)
