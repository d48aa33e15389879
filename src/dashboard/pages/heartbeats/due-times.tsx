import type { DueTimesView } from '../../../features/heartbeats/shapes'
import { useForm } from '../../parts/form'
import { useSettled } from '../../parts/settled'
import { Ago } from '../../parts/time'
import { timeFormat } from '../../parts/timezone'
import { useOne } from '../../queries'

/** The next times of the expression that is typed, as the clocks of its time zone show them. */
export function DueTimes() {
  const { values } = useForm()
  const kind = values['schedule.kind'] as string
  const expression = useSettled(String(values['schedule.expression']).trim())
  const timezone = useSettled(String(values['schedule.timezone']).trim())
  const isAsked = kind !== 'period' && expression !== '' && timezone !== ''
  const { data, error } = useOne<DueTimesView>(
    isAsked ? '/heartbeats/due-times' : null,
    { kind, expression, timezone },
    { keep: true },
  )
  return (
    <section aria-label="Next times" aria-live="polite" className="min-h-36 rounded-md bg-canvas p-3 text-[13px]">
      <p className="mb-1 font-medium">Next times, in {timezone || 'UTC'}</p>
      {error ? (
        <p className="text-bad">{error.errors[0]?.detail ?? error.message}</p>
      ) : (
        <ol>
          {(isAsked ? (data?.due_at ?? []) : []).map(at => (
            <li key={at} className="flex flex-wrap gap-x-3">
              <span className="min-w-52">{readingIn(timezone, at)}</span>
              <span className="text-muted">
                <Ago at={at} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

/** A time as the clocks of a zone show it; in the person's own where the browser does not know the zone. */
function readingIn(timeZone: string, at: string): string {
  const options = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const
  try {
    return timeFormat({ ...options, timeZone }).format(new Date(at))
  } catch {
    return timeFormat({ ...options, timeZoneName: 'short' }).format(new Date(at))
  }
}
