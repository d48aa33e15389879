import ical, { foldLines, ICalEvent, type ICalEventData } from 'ical-generator'
import { oneLine } from '../../core/one-line'
import { flatMapInTurns } from '../../core/time-slices'

/** An event of a calendar. Times are ms UTC. */
export type CalendarEvent = {
  /** Unique in all calendars, and the same whenever the event is written. */
  uid: string
  /** When what it shows last changed. */
  stampedAt: number
  summary: string
  description: string
  url: string
  /** A time on the day (UTC) of an event that lasts the whole day, or a start and an end. */
} & ({ day: number } | { from: number; until: number })

const hourSeconds = 3600

/** Writes a calendar (RFC 5545), without blocking other work. The same events result in the same text. */
export async function icalendar(name: string, events: readonly CalendarEvent[]): Promise<string> {
  const calendar = ical({
    name,
    prodId: { company: 'Bailiwick', product: 'Calendar feed', language: 'EN' },
    // How often programs should read it again. A feed can be read 60 times an hour.
    ttl: hourSeconds,
  })
  const empty = calendar.toString()
  const end = empty.lastIndexOf('END:VCALENDAR')
  const texts = await flatMapInTurns(events, event => [foldLines(new ICalEvent(eventData(event), calendar).toString())])
  return empty.slice(0, end) + texts.join('') + empty.slice(end)
}

const eventData = (event: CalendarEvent): ICalEventData => ({
  id: `${event.uid}@bailiwick`,
  stamp: new Date(event.stampedAt),
  summary: oneLine(event.summary),
  description: event.description
    .split('\n')
    .map(line => oneLine(line))
    .join('\n'),
  url: event.url,
  ...('day' in event
    ? { start: new Date(event.day), allDay: true }
    : { start: new Date(event.from), end: new Date(event.until) }),
})
