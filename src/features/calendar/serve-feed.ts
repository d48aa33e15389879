import { eq, sql } from 'drizzle-orm'
import { limiterOf } from '../../access/limiter'
import { calendarReads, failedCredentials } from '../../access/rate-limits'
import { workspaceSuspended } from '../../access/suspension'
import { workspaces } from '../../access/tables'
import { matchesEtag } from '../../api/response'
import { record } from '../../core/change'
import { sha256Hex } from '../../core/crypto'
import { prepared } from '../../core/db/prepared'
import type { Hub } from '../../core/hub'
import { notFound, tooManyRequests } from '../../core/problem'
import { feedEvents } from './feed-events'
import { icalendar } from './icalendar'
import { calendarFeeds } from './tables'

const hourMs = 3_600_000

/** A calendar, to be sent as a response. */
class CalendarResponse {
  constructor(
    readonly text: string,
    readonly ifNoneMatch: string | null,
  ) {}

  response(headers: Record<string, string>): Response {
    const etag = `"${Bun.hash(this.text).toString(36)}"`
    if (matchesEtag(this.ifNoneMatch, etag)) return new Response(null, { status: 304, headers: { ...headers, ETag: etag } })
    return new Response(this.text, { headers: { ...headers, ETag: etag, 'Content-Type': 'text/calendar; charset=utf-8' } })
  }
}

/**
 * Reads the feed with this secret. A text that is no secret is looked up like a wrong one, so that both take the same time.
 * @throws Problem 403, 404, 429
 */
export async function readFeed(
  hub: Hub,
  secret: string,
  from: { ip: string; ifNoneMatch: string | null },
): Promise<CalendarResponse> {
  const now = hub.clock.now()
  const [found] = await prepared(hub.read, 'calendar-feed', read =>
    read
      .select({ feed: calendarFeeds, workspace: workspaces })
      .from(calendarFeeds)
      .innerJoin(workspaces, eq(workspaces.id, calendarFeeds.workspaceId))
      .where(eq(calendarFeeds.secretHash, sql.placeholder('hash'))),
  ).execute({ hash: sha256Hex(secret) })
  const bucket = found ? calendarReads(found.feed.id) : failedCredentials(from.ip, hub.config.failedCredentialsPerMinute)
  const verdict = limiterOf(hub).take([bucket], now)
  if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds)
  if (!found) throw notFound('calendar feed')
  const { feed, workspace } = found
  if (workspace.suspendedAt !== null) throw workspaceSuspended(workspace)
  if (feed.lastUsedAt === null || now - feed.lastUsedAt >= hourMs) await noteUse(hub, feed.id, now)
  return new CalendarResponse(await icalendar(feed.name, await feedEvents(hub.read, feed, now, hub.baseUrl)), from.ifNoneMatch)
}

/** Stores when a feed was used, at most once an hour. */
const noteUse = (hub: Hub, id: string, at: number): Promise<void> =>
  record(hub, async tx => {
    await tx.update(calendarFeeds).set({ lastUsedAt: at }).where(eq(calendarFeeds.id, id))
    return { result: undefined }
  })
