import { Link } from '@tanstack/react-router'
import { Wrench } from 'lucide-react'
import type { MaintenanceAgendaView } from '../../../features/maintenance/shapes'
import { clockTime, dayOf, span, useNow, wholeTime } from '../../parts/time'
import { timeFormat } from '../../parts/timezone'
import { barsOf, dayStart, dayText, monthOf, numberOf, plusDays } from './calendar-days'

/** An occurrence of a window, with its times in ms since the epoch. */
export interface Planned {
  id: string
  name: string
  from: number
  to: number
}

export const plannedOf = (one: MaintenanceAgendaView): Planned => ({
  id: one.window_id,
  name: one.name,
  from: new Date(one.starts_at).getTime(),
  to: new Date(one.ends_at).getTime(),
})

const weekday = (day: Date) => timeFormat({ weekday: 'short' }).format(day)
const mostLanes = 4

const look = (one: Planned, now: number) =>
  one.to <= now ? 'bg-idle-soft text-idle' : one.from <= now ? 'bg-warn-soft text-warn font-medium' : 'bg-accent-soft text-accent'
const told = (one: Planned) => `${one.name}, from ${wholeTime(one.from)} for ${span(one.to - one.from)}`

/** A month by its weeks, each window as a bar over the days it takes. */
export function Month({ days, month, planned }: { days: readonly Date[]; month: number; planned: readonly Planned[] }) {
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
        const bars = barsOf(week, planned)
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
                .filter(bar => bar.lane < mostLanes)
                .map(({ item, first, last, lane }) => (
                  <Link
                    key={`${item.id}${item.from}`}
                    to="/maintenance/$id"
                    params={{ id: item.id }}
                    title={told(item)}
                    style={{ gridColumn: `${first + 1} / ${last + 2}`, gridRow: lane + 1 }}
                    className={`mx-1 line-clamp-2 rounded leading-4 wrap-anywhere px-1.5 py-0.5 text-[13px] hover:underline ${look(item, now)}`}
                  >
                    {item.from >= week[0]!.getTime() ? clockTime(item.from) : '…'} {item.name}
                    <span className="sr-only">, {dayOf(item.from)}</span>
                  </Link>
                ))}
              {week.map((day, at) => {
                const hidden = bars.filter(bar => bar.lane >= mostLanes && bar.first <= at && bar.last >= at).length
                return hidden === 0 ? null : (
                  <Link
                    key={day.getTime()}
                    to="."
                    search={{ view: 'week', day: dayText(day) }}
                    style={{ gridColumn: at + 1, gridRow: mostLanes + 1 }}
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
    <span className="rounded-full bg-accent px-1.5 py-0.5 font-semibold text-on-accent">{numberOf(day)}</span>
  ) : (
    <span>{numberOf(day)}</span>
  )

const hours = [0, 6, 12, 18]
const dayHeight = 'h-[30rem]'

/** A week by its hours. */
export function Week({ days, planned }: { days: readonly Date[]; planned: readonly Planned[] }) {
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
          <WeekDay key={day.getTime()} day={day} planned={planned} now={now} />
        ))}
      </div>
    </div>
  )
}

function WeekDay({ day, planned, now }: { day: Date; planned: readonly Planned[]; now: number }) {
  const begin = day.getTime()
  const length = plusDays(day, 1).getTime() - begin
  const place = (at: number) => Math.min(Math.max((at - begin) / length, 0), 1) * 100
  const own = planned.filter(one => one.from < begin + length && one.to > begin).sort((a, b) => a.from - b.from)
  // Those that overlap stand side by side.
  const ends: number[] = []
  const lanes = own.map(one => {
    const free = ends.findIndex(end => end <= one.from)
    const lane = free === -1 ? ends.length : free
    ends[lane] = one.to
    return lane
  })
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
          title={told(one)}
          className={`absolute min-h-6 overflow-hidden rounded border border-line px-1.5 py-0.5 text-[13px] leading-4 hover:underline ${look(one, now)}`}
          style={{
            top: `${Math.min(place(one.from), 95)}%`,
            height: `${place(one.to) - place(one.from)}%`,
            left: `${(lanes[at]! / ends.length) * 100}%`,
            width: `${100 / ends.length}%`,
          }}
        >
          {clockTime(one.from)} {one.name}
          <span className="sr-only">, {dayOf(one.from)}</span>
        </Link>
      ))}
    </div>
  )
}

/** The same as a list, for narrow screens. */
export function Agenda({ planned }: { planned: readonly Planned[] }) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface sm:hidden">
      {planned.length === 0 && <li className="p-4 text-muted">No maintenance in this time.</li>}
      {planned.map(one => (
        <li key={`${one.id}${one.from}`} className="flex items-start gap-2 p-3">
          <Wrench className="mt-0.5 size-4 shrink-0 text-muted" aria-hidden />
          <span className="min-w-0">
            <Link to="/maintenance/$id" params={{ id: one.id }} className="font-medium hover:underline">
              {one.name}
            </Link>
            <span className="block text-[13px] text-muted">
              {dayOf(one.from)}, {clockTime(one.from)} for {span(one.to - one.from)}
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}
