import { ChevronLeft, ChevronRight, Plus } from 'lucide-react'
import { useMemo } from 'react'
import type { MaintenanceAgendaView } from '../../features/maintenance/shapes'
import { useUrlState } from '../parts/url-state'
import { Button, LinkButton } from '../parts/button'
import { Page } from '../parts/page'
import { Problem } from '../parts/problem'
import { ToggleGroup } from '../parts/toggle-group'
import { formatDate, useNow } from '../parts/time'
import { displayTimezone, timeFormat } from '../parts/timezone'
import { useList } from '../queries'
import { usePerson } from '../session'
import { Agenda, Month, occurrenceOf, Week } from './maintenance/calendar'
import { dayFrom, daysShown, dayStart, dayText, monthOf, plusDays, plusMonths } from './maintenance/calendar-days'
import { Windows } from './maintenance/windows'

const views = { month: 'Month', week: 'Week', list: 'List' } as const

/** Maintenance windows, on a calendar or as a list. */
export default function Maintenance() {
  const { canWrite } = usePerson()
  const [{ view, day: text }, set] = useUrlState({ view: 'month', day: '' })
  const today = dayStart(new Date(useNow()))
  const day = dayFrom(text, today)
  const shownView = view in views ? (view as keyof typeof views) : 'month'
  const go = (to: Date) => set({ day: dayText(to) === dayText(today) ? '' : dayText(to) })
  const step = (count: number) => go(shownView === 'week' ? plusDays(day, 7 * count) : plusMonths(day, count))
  const title =
    shownView === 'week'
      ? `Week of ${formatDate(daysShown('week', day)[0]!.getTime())}`
      : timeFormat({ month: 'long', year: 'numeric' }).format(day)
  return (
    <Page
      description="During a maintenance window, checks keep running, but no alerts are sent about its monitors and heartbeats."
      actions={
        canWrite && (
          <LinkButton to="/maintenance/new" kind="primary" data-new icon={Plus}>
            Schedule maintenance
          </LinkButton>
        )
      }
    >
      <div className="mb-3 flex min-h-9 flex-wrap items-center gap-2">
        {shownView !== 'list' && (
          <>
            <Button aria-label="Previous" icon={ChevronLeft} onClick={() => step(-1)} />
            <Button aria-label="Next" icon={ChevronRight} onClick={() => step(1)} />
            <Button onClick={() => set({ day: '' })}>Today</Button>
            <h2 className="font-semibold" aria-live="polite">
              {title}
            </h2>
          </>
        )}
        <div className="grow" />
        <ToggleGroup label="View" value={shownView} onChange={view => set({ view })} choices={views} />
      </div>
      {shownView === 'list' ? <Windows /> : <Calendar view={shownView} day={day} />}
    </Page>
  )
}

const maxShown = 500

function Calendar({ view, day }: { view: 'month' | 'week'; day: Date }) {
  const key = dayText(day)
  const days = useMemo(() => daysShown(view, day), [view, key])
  const list = useList<MaintenanceAgendaView>('/maintenance-windows/agenda', {
    from: days[0]!.toISOString(),
    to: plusDays(days.at(-1)!, 1).toISOString(),
    limit: maxShown,
  })
  const occurrences = useMemo(() => list.rows.map(occurrenceOf), [list.rows])
  if (list.error) return <Problem error={list.error} onRetry={list.retry} />
  return (
    <>
      {view === 'month' ? (
        <Month days={days} month={monthOf(day)} occurrences={occurrences} />
      ) : (
        <Week days={days} occurrences={occurrences} />
      )}
      <Agenda occurrences={occurrences} />
      {!list.isLoading && (
        <p className="mt-2 min-h-5 text-[13px] text-muted">
          Times are in {displayTimezone()}.{list.hasMore && ` Only the first ${maxShown} occurrences are shown.`}
        </p>
      )}
    </>
  )
}
