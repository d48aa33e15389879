import type { MonitorSummaryView } from '../../../features/monitors/shapes'
import { StatusIcon, capitalize, humanize } from '../../parts/status'

// In order of importance.
const order = ['down', 'degraded', 'up', 'maintenance', 'paused', 'new', 'unknown']
const always = new Set(['down', 'up'])

interface StatusCountsProps {
  summary: MonitorSummaryView | undefined
  /** The status the list is filtered by; empty for all. */
  value: string
  onChange(status: string): void
}

/** The number of monitors by status. Selecting one filters the list. */
export function StatusCounts({ summary, value, onChange }: StatusCountsProps) {
  const shown = order.filter(state => always.has(state) || state === value || (summary?.statuses[state] ?? 0) > 0)
  return (
    <div role="group" aria-label="Status" className="mb-3 flex min-h-9 flex-wrap gap-2">
      <Count label="All" count={summary?.total} selected={value === ''} onClick={() => onChange('')} />
      {shown.map(state => (
        <Count
          key={state}
          state={state}
          label={capitalize(humanize(state))}
          count={summary && (summary.statuses[state] ?? 0)}
          selected={value === state}
          onClick={() => onChange(value === state ? '' : state)}
        />
      ))}
    </div>
  )
}

interface CountProps {
  state?: string
  label: string
  count: number | undefined
  selected: boolean
  onClick(): void
}

const Count = ({ state, label, count, selected, onClick }: CountProps) => (
  <button
    type="button"
    aria-pressed={selected}
    onClick={onClick}
    className="inline-flex h-9 shrink-0 items-center gap-1.5 rounded-md border border-line bg-surface px-3 hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft"
  >
    {state && <StatusIcon status={state} className="size-4" />}
    <span className="font-semibold">{count === undefined ? '–' : count.toLocaleString()}</span>
    <span className="text-muted">{label}</span>
  </button>
)
