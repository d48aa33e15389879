import type { Reader } from '../../core/db/transaction'
import { endingCertificates } from '../certificates/summary'
import { endingDomains } from '../domains/ending'
import { plannedMaintenance } from '../maintenance/schedule'
import type { FeedContent } from './contents'
import type { CalendarEvent } from './icalendar'
import type { calendarFeeds } from './tables'

const dayMs = 86_400_000
/** How long something that has ended stays in the calendar. */
const pastDays = 30
const maintenanceDays = 62
/** Per kind of content. */
const maxEvents = 500

type Feed = Pick<typeof calendarFeeds.$inferSelect, 'workspaceId' | 'include' | 'tags'>
type Source = (read: Reader, feed: Feed, today: number, baseUrl: string) => Promise<CalendarEvent[]>

const sources: Readonly<Record<FeedContent, Source>> = {
  async domains(read, { workspaceId, tags }, today, baseUrl) {
    const found = await endingDomains(read, workspaceId, { from: today - pastDays * dayMs, tags, max: maxEvents })
    return found.map(one => ({
      uid: one.id,
      stampedAt: one.createdAt,
      day: one.expiresAt,
      summary: `Domain expires: ${one.name}`,
      description: one.autoRenew ? 'Renews automatically.' : '',
      url: `${baseUrl}/domains/${one.id}`,
    }))
  },
  async certificates(read, { workspaceId, tags }, today, baseUrl) {
    const found = await endingCertificates(read, workspaceId, { from: today - pastDays * dayMs, tags, max: maxEvents })
    return found.map(one => ({
      uid: one.id,
      stampedAt: one.createdAt,
      day: one.notAfter,
      summary: `Certificate expires: ${one.name}`,
      description: [`Issuer: ${one.issuer}`, `Names: ${one.names.join(', ')}`].join('\n'),
      url: `${baseUrl}/certificates/${one.id}`,
    }))
  },
  async maintenance(read, { workspaceId, tags }, today, baseUrl) {
    const until = today + maintenanceDays * dayMs
    const found = await plannedMaintenance(read, workspaceId, { from: today, until, tags, max: maxEvents })
    return found.map(({ window, occurrence }) => ({
      uid: `${window.id}-${occurrence.from}`,
      stampedAt: window.updatedAt,
      from: occurrence.from,
      until: occurrence.until,
      summary: `Maintenance: ${window.name}`,
      description: window.description,
      url: `${baseUrl}/maintenance/${window.id}`,
    }))
  },
}

/** The events of a feed. They change at most once a day while nothing else changes. @param now ms UTC */
export async function feedEvents(read: Reader, feed: Feed, now: number, baseUrl: string): Promise<CalendarEvent[]> {
  const today = Math.floor(now / dayMs) * dayMs
  const found = await Promise.all(feed.include.map(content => sources[content](read, feed, today, baseUrl)))
  return found.flat()
}
