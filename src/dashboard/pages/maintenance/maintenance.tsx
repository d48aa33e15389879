import { ChevronLeft, ChevronRight, Plus } from 'lucide-react'
import { useMemo } from 'react'
import type { MaintenanceAgendaView } from '../../../features/maintenance/shapes'
import { useAddress } from '../../parts/address'
import { Button, LinkButton } from '../../parts/button'
import { Page } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { dayOf, useNow } from '../../parts/time'
import { shownTimezone, timeFormat } from '../../parts/timezone'
import { useList } from '../../queries'
import { usePerson } from '../../session'
import { Agenda, Month, plannedOf, Week } from './calendar'
import { dayFrom, daysShown, dayStart, dayText, monthOf, plusDays, plusMonths } from './calendar-days'
import { Windows } from './windows'

const views = [
  ['month', 'Month'],
  ['week', 'Week'],
  ['list', 'List'],
] as const
type View = (typeof views)[number][0]

/** Times in which nobody is told of what fails: on a calendar, or as a list. */
export default function Maintenance() {
  const { mayWrite } = usePerson()
  const [{ view, day: text }, set] = useAddress({ view: 'month', day: '' })
  const today = dayStart(new Date(useNow()))
  const day = dayFrom(text, today)
  const shown = (views.find(([one]) => one === view)?.[0] ?? 'month') as View
  const go = (to: Date) => set({ day: dayText(to) === dayText(today) ? '' : dayText(to) })
  const step = (count: number) => go(shown === 'week' ? plusDays(day, 7 * count) : plusMonths(day, count))
  const title =
    shown === 'week'
      ? `Week of ${dayOf(daysShown('week', day)[0]!.getTime())}`
      : timeFormat({ month: 'long', year: 'numeric' }).format(day)
  return (
    <Page
      title="Maintenance"
      lead="While a window is in force, checks go on, and nobody is told of what fails."
      actions={
        mayWrite && (
          <LinkButton to="/maintenance/new" kind="main" data-new icon={<Plus className="size-4" aria-hidden />}>
            Plan maintenance
          </LinkButton>
        )
      }
    >
      <div className="mb-3 flex min-h-9 flex-wrap items-center gap-2">
        {shown !== 'list' && (
          <>
            <Button aria-label="Earlier" icon={<ChevronLeft className="size-4" aria-hidden />} onClick={() => step(-1)} />
            <Button aria-label="Later" icon={<ChevronRight className="size-4" aria-hidden />} onClick={() => step(1)} />
            <Button onClick={() => set({ day: '' })}>Today</Button>
            <h2 className="font-semibold" aria-live="polite">
              {title}
            </h2>
          </>
        )}
        <div className="grow" />
        <div role="group" aria-label="Show as" className="flex gap-1">
          {views.map(([one, words]) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === shown}
              onClick={() => set({ view: one })}
              className="h-9 rounded-md px-3 text-muted hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
            >
              {words}
            </button>
          ))}
        </div>
      </div>
      {shown === 'list' ? <Windows /> : <Calendar view={shown} day={day} />}
    </Page>
  )
}

const mostShown = 500

function Calendar({ view, day }: { view: 'month' | 'week'; day: Date }) {
  const key = dayText(day)
  const days = useMemo(() => daysShown(view, day), [view, key])
  const list = useList<MaintenanceAgendaView>('/maintenance-windows/agenda', {
    from: days[0]!.toISOString(),
    to: plusDays(days.at(-1)!, 1).toISOString(),
    limit: mostShown,
  })
  const planned = useMemo(() => list.rows.map(plannedOf), [list.rows])
  if (list.error) return <Problem error={list.error} onAgain={list.again} />
  return (
    <>
      {view === 'month' ? <Month days={days} month={monthOf(day)} planned={planned} /> : <Week days={days} planned={planned} />}
      <Agenda planned={planned} />
      {!list.isLoading && (
        <p className="mt-2 min-h-5 text-[13px] text-muted">
          In your time, {shownTimezone()}.{list.hasMore && ` Only the first ${mostShown} are shown.`}
        </p>
      )}
    </>
  )
}
