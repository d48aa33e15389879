import type { MonitorSummaryView } from '../../../features/monitors/shapes'
import { StatusIcon, wordsOf } from '../../parts/status'

// In the order of how much they matter to who looks.
const order = ['down', 'degraded', 'up', 'maintenance', 'paused', 'new', 'unknown']
const always = new Set(['down', 'up'])

interface StateCountsProps {
  summary: MonitorSummaryView | undefined
  /** The status that the list is narrowed to; empty for all. */
  value: string
  onChange(status: string): void
}

/** How many monitors have each status; one narrows the list to it. */
export function StateCounts({ summary, value, onChange }: StateCountsProps) {
  const shown = order.filter(state => always.has(state) || state === value || (summary?.statuses[state] ?? 0) > 0)
  return (
    <div
      role="group"
      aria-label="By status"
      className="mb-3 flex min-h-9 gap-2 overflow-x-auto max-sm:-mx-4 max-sm:px-4 sm:flex-wrap"
    >
      <Count label="All" count={summary?.total} chosen={value === ''} onClick={() => onChange('')} />
      {shown.map(state => (
        <Count
          key={state}
          state={state}
          label={wordsOf(state)}
          count={summary && (summary.statuses[state] ?? 0)}
          chosen={value === state}
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
  chosen: boolean
  onClick(): void
}

const Count = ({ state, label, count, chosen, onClick }: CountProps) => (
  <button
    type="button"
    aria-pressed={chosen}
    onClick={onClick}
    className="inline-flex h-9 shrink-0 items-center gap-1.5 rounded-md border border-line bg-surface px-3 hover:bg-hover aria-pressed:border-accent aria-pressed:bg-accent-soft"
  >
    {state && <StatusIcon state={state} className="size-4" />}
    <span className="font-semibold">{count === undefined ? '–' : count.toLocaleString()}</span>
    <span className="text-muted">{label}</span>
  </button>
)
