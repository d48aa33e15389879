import { Link } from '@tanstack/react-router'
import { Wrench } from 'lucide-react'
import type { MaintenanceAgendaView } from '../../../features/maintenance/shapes'
import { formatTime, formatDate, formatDuration, useNow, formatDateTime } from '../../parts/time'
import { timeFormat } from '../../parts/timezone'
import { barsOf, laneOf, dayStart, dayText, monthOf, dayOfMonth, plusDays } from './calendar-days'

/** An occurrence of a window, with times in ms since the epoch. */
interface Occurrence {
  id: string
  name: string
  from: number
  to: number
}

export const occurrenceOf = (one: MaintenanceAgendaView): Occurrence => ({
  id: one.window_id,
  name: one.name,
  from: new Date(one.starts_at).getTime(),
  to: new Date(one.ends_at).getTime(),
})

const weekday = (day: Date) => timeFormat({ weekday: 'short' }).format(day)
const maxLanes = 4

const colorsOf = (one: Occurrence, now: number) =>
  one.to <= now ? 'bg-idle-soft text-idle' : one.from <= now ? 'bg-warn-soft text-warn font-medium' : 'bg-accent-soft text-accent'
const titleOf = (one: Occurrence) => `${one.name}, from ${formatDateTime(one.from)} for ${formatDuration(one.to - one.from)}`

interface MonthProps {
  days: readonly Date[]
  month: number
  occurrences: readonly Occurrence[]
}

/** A month of weeks. Each occurrence is a bar across its days. */
export function Month({ days, month, occurrences }: MonthProps) {
  const now = useNow()
  const weeks = Array.from({ length: days.length / 7 }, (_, at) => days.slice(at * 7, at * 7 + 7))
  return (
    <div className="overflow-clip rounded-lg border border-line bg-surface max-sm:hidden">
      <div className="grid grid-cols-7 border-b border-line text-[13px] text-muted" aria-hidden>
        {days.slice(0, 7).map(day => (
          <div key={day.getTime()} className="px-2 py-1.5">
            {weekday(day)}
          </div>
        ))}
      </div>
      {weeks.map(week => {
        const bars = barsOf(week, occurrences)
        return (
          <div key={week[0]!.getTime()} className="relative min-h-28 border-b border-line last:border-0">
            <div className="absolute inset-0 grid grid-cols-7">
              {week.map(day => (
                <div
                  key={day.getTime()}
                  className={`border-r border-line px-2 py-1 text-[13px] last:border-0 ${monthOf(day) === month ? '' : 'bg-canvas text-muted'}`}
                >
                  <DayNumber day={day} now={now} />
                </div>
              ))}
            </div>
            <div className="relative grid grid-cols-7 gap-y-0.5 pt-8 pb-1">
              {bars
                .filter(bar => bar.lane < maxLanes)
                .map(({ item, first, last, lane }) => (
                  <Link
                    key={`${item.id}${item.from}`}
                    to="/maintenance/$id"
                    params={{ id: item.id }}
                    title={titleOf(item)}
                    style={{ gridColumn: `${first + 1} / ${last + 2}`, gridRow: lane + 1 }}
                    className={`mx-1 line-clamp-2 rounded leading-4 wrap-anywhere border-y-4 border-transparent px-1.5 text-[13px] hover:underline ${colorsOf(item, now)}`}
                  >
                    {item.from >= week[0]!.getTime() ? formatTime(item.from) : '…'} {item.name}
                    <span className="sr-only">, {formatDate(item.from)}</span>
                  </Link>
                ))}
              {week.map((day, at) => {
                const hidden = bars.filter(bar => bar.lane >= maxLanes && bar.first <= at && bar.last >= at).length
                return hidden === 0 ? null : (
                  <Link
                    key={day.getTime()}
                    to="."
                    search={{ view: 'week', day: dayText(day) }}
                    style={{ gridColumn: at + 1, gridRow: maxLanes + 1 }}
                    className="px-2 text-[13px] text-accent hover:underline"
                  >
                    {hidden} more
                  </Link>
                )
              })}
            </div>
          </div>
        )
      })}
    </div>
  )
}

const DayNumber = ({ day, now }: { day: Date; now: number }) =>
  dayStart(new Date(now)).getTime() === day.getTime() ? (
    <span className="rounded-full bg-accent px-1.5 py-0.5 font-semibold text-on-accent">{dayOfMonth(day)}</span>
  ) : (
    <span>{dayOfMonth(day)}</span>
  )

const hours = [0, 6, 12, 18]
const dayHeight = 'h-[30rem]'

/** A week with an hour scale. */
export function Week({ days, occurrences }: { days: readonly Date[]; occurrences: readonly Occurrence[] }) {
  const now = useNow()
  return (
    <div className="overflow-clip rounded-lg border border-line bg-surface max-sm:hidden">
      <div className="grid grid-cols-[4rem_repeat(7,1fr)] border-b border-line text-[13px] text-muted">
        <span />
        {days.map(day => (
          <div key={day.getTime()} className="px-2 py-1.5">
            {weekday(day)} <DayNumber day={day} now={now} />
          </div>
        ))}
      </div>
      <div className={`grid grid-cols-[4rem_repeat(7,1fr)] ${dayHeight}`}>
        <div className="relative text-[13px] text-muted">
          {hours.map(hour => (
            <span key={hour} className="absolute right-2" style={{ top: `${(hour / 24) * 100}%` }}>
              {String(hour).padStart(2, '0')}:00
            </span>
          ))}
        </div>
        {days.map(day => (
          <WeekDay key={day.getTime()} day={day} occurrences={occurrences} now={now} />
        ))}
      </div>
    </div>
  )
}

function WeekDay({ day, occurrences, now }: { day: Date; occurrences: readonly Occurrence[]; now: number }) {
  const begin = day.getTime()
  const length = plusDays(day, 1).getTime() - begin
  const place = (at: number) => Math.min(Math.max((at - begin) / length, 0), 1) * 100
  const own = occurrences.filter(one => one.from < begin + length && one.to > begin).sort((a, b) => a.from - b.from)
  // Show overlapping occurrences side by side.
  const ends: number[] = []
  const lanes = own.map(one => laneOf(ends, one.from, one.to))
  return (
    <div className="relative border-l border-line">
      {hours.slice(1).map(hour => (
        <span key={hour} className="absolute inset-x-0 border-t border-line" style={{ top: `${(hour / 24) * 100}%` }} />
      ))}
      {own.map((one, at) => (
        <Link
          key={`${one.id}${one.from}`}
          to="/maintenance/$id"
          params={{ id: one.id }}
          title={titleOf(one)}
          className={`absolute min-h-6 overflow-hidden rounded border border-line px-1.5 py-0.5 text-[13px] leading-4 hover:underline ${colorsOf(one, now)}`}
          style={{
            top: `${Math.min(place(one.from), 95)}%`,
            height: `${place(one.to) - place(one.from)}%`,
            left: `${(lanes[at]! / ends.length) * 100}%`,
            width: `${100 / ends.length}%`,
          }}
        >
          {formatTime(one.from)} {one.name}
          <span className="sr-only">, {formatDate(one.from)}</span>
        </Link>
      ))}
    </div>
  )
}

/** The occurrences as a list, for narrow screens. */
export const Agenda = ({ occurrences }: { occurrences: readonly Occurrence[] }) => (
  <ul className="divide-y divide-line rounded-lg border border-line bg-surface sm:hidden">
    {occurrences.length === 0 && <li className="p-4 text-muted">No maintenance in this period.</li>}
    {occurrences.map(one => (
      <li key={`${one.id}${one.from}`} className="flex items-start gap-2 p-3">
        <Wrench className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden />
        <span className="min-w-0">
          <Link to="/maintenance/$id" params={{ id: one.id }} className="font-medium hover:underline">
            {one.name}
          </Link>
          <span className="block text-[13px] text-muted">
            {formatDate(one.from)}, {formatTime(one.from)} for {formatDuration(one.to - one.from)}
          </span>
        </span>
      </li>
    ))}
  </ul>
)
