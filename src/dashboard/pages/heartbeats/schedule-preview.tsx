import type { DueTimesView } from '../../../features/heartbeats/shapes'
import { useForm } from '../../parts/form'
import { useDebounced } from '../../parts/debounced'
import { TimeList } from '../../parts/time'
import { timeFormat, usesTwelveHourClock } from '../../parts/timezone'
import { useOne } from '../../queries'

/** The next times of the entered expression, in its own time zone. */
export function SchedulePreview() {
  const { values } = useForm()
  const kind = values['schedule.kind'] as string
  const expression = useDebounced(String(values['schedule.expression']).trim())
  const timezone = useDebounced(String(values['schedule.timezone']).trim())
  const isComplete = kind !== 'period' && expression !== '' && timezone !== ''
  const { data, error } = useOne<DueTimesView>(
    isComplete ? '/heartbeats/due-times' : null,
    { kind, expression, timezone },
    { keepPrevious: true },
  )
  return (
    <section aria-label="Next times" aria-live="polite" className="min-h-36 rounded-md bg-canvas p-3 text-[13px]">
      <p className="mb-1 font-medium">Next times ({timezone || 'UTC'})</p>
      {error ? (
        <p className="text-bad">{error.errors[0]?.detail ?? error.message}</p>
      ) : !isComplete ? (
        <p className="text-muted">Enter an expression to see when pings are expected.</p>
      ) : (
        <TimeList times={data?.due_at ?? []} format={at => formatIn(timezone, at)} />
      )}
    </section>
  )
}

/** Formats a time in a time zone, or in the user's own if the browser does not know the zone. */
function formatIn(timeZone: string, at: string): string {
  const options = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: usesTwelveHourClock() ? 'numeric' : '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const
  try {
    return timeFormat({ ...options, timeZone }).format(new Date(at))
  } catch {
    return timeFormat({ ...options, timeZoneName: 'short' }).format(new Date(at))
  }
}
