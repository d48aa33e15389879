import type { NextOccurrencesView } from '../../../features/maintenance/shapes'
import type { Query } from '../../client'
import { useForm } from '../../parts/form'
import { useDebounced } from '../../parts/debounced'
import { TimeList } from '../../parts/time'
import { useOne } from '../../queries'
import { timingFrom } from './window-values'

/** The next occurrences of the entered schedule. */
export function OccurrencePreview() {
  const { values } = useForm()
  const settled = useDebounced(JSON.stringify(timingFrom(values)))
  const timing = JSON.parse(settled) as Query
  const isComplete =
    timing.duration_seconds !== null &&
    (timing.kind === 'cron' ? timing.cron !== '' : timing.starts_at_local !== null) &&
    (timing.kind !== 'rrule' || timing.rrule !== '')
  const { data, error } = useOne<NextOccurrencesView>(isComplete ? '/maintenance-windows/next-occurrences' : null, timing, {
    keepPrevious: true,
  })
  const times = isComplete ? (data?.next_occurrences ?? []).map(one => one.starts_at) : []
  return (
    <section aria-label="Next occurrences" aria-live="polite" className="min-h-36 rounded-md bg-canvas p-3 text-[13px]">
      <p className="mb-1 font-medium">Next occurrences, in your time zone</p>
      {isComplete && error ? (
        <p className="text-bad">
          {error.errors[0] ? `${error.errors[0].pointer.slice(8).replaceAll('_', ' ')} ${error.errors[0].detail}` : error.message}
        </p>
      ) : (
        <TimeList times={times} empty={isComplete && data !== undefined && 'No upcoming occurrences.'} />
      )}
    </section>
  )
}
