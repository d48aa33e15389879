import type { NextOccurrencesView } from '../../../features/maintenance/shapes'
import type { Query } from '../../client'
import { useForm } from '../../parts/form'
import { useSettled } from '../../parts/settled'
import { Ago, wholeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { timingFrom } from './window-values'

/** When the window that is typed would be in force. */
export function NextOccurrences() {
  const { values } = useForm()
  const asked = useSettled(JSON.stringify(timingFrom(values)))
  const timing = JSON.parse(asked) as Query
  const isWhole =
    timing.duration_seconds !== null &&
    (timing.kind === 'cron' ? timing.cron !== '' : timing.starts_at_local !== null) &&
    (timing.kind !== 'rrule' || timing.rrule !== '')
  const { data, error } = useOne<NextOccurrencesView>(isWhole ? '/maintenance-windows/next-occurrences' : null, timing, {
    keep: true,
  })
  const rows = isWhole ? (data?.next_occurrences ?? []) : []
  return (
    <section aria-label="Next occurrences" aria-live="polite" className="min-h-36 rounded-md bg-canvas p-3 text-[13px]">
      <p className="mb-1 font-medium">Next occurrences, in your time</p>
      {isWhole && error ? (
        <p className="text-bad">
          {error.errors[0] ? `${error.errors[0].pointer.slice(8).replaceAll('_', ' ')} ${error.errors[0].detail}` : error.message}
        </p>
      ) : (
        <ol>
          {rows.map(one => (
            <li key={one.starts_at} className="flex flex-wrap gap-x-3">
              <span className="min-w-52">{wholeTime(one.starts_at)}</span>
              <span className="text-muted">
                <Ago at={one.starts_at} />
              </span>
            </li>
          ))}
          {isWhole && data && rows.length === 0 && <li className="text-muted">None that begins from now on.</li>}
        </ol>
      )}
    </section>
  )
}
