import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { createFeed, deleteFeed, feedListing, getFeed, listFeeds, rotateFeed, updateFeed } from './feeds'
import { readFeed } from './serve-feed'
import { CalendarFeed, CalendarFeedInput, CalendarFeedList, CalendarFeedPatch } from './shapes'

const calendarExample = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Bailiwick//Calendar feed//EN
BEGIN:VEVENT
UID:cert_01jd8f3q7eeb9bv0w0r8c7hq2m@bailiwick
DTSTAMP:20261127T100000Z
DTSTART;VALUE=DATE:20270131
SUMMARY:Certificate expires: www.example.com
END:VEVENT
END:VCALENDAR
`

export const calendarRoutes = area('calendar-feeds', 'Domains', [
  ...crud({
    type: 'calendar_feed',
    response: CalendarFeed,
    list: {
      description: 'Lists the calendar feeds of the workspace.',
      listing: feedListing,
      response: CalendarFeedList,
      run: listFeeds,
    },
    create: {
      description:
        'Creates a calendar feed. Requires the permissions to read everything that it includes. A workspace can have up to 50 (409).',
      body: CalendarFeedInput,
      secretFields: ['url'],
      problems: ['conflict'],
      run: createFeed,
    },
    get: { description: 'Returns a calendar feed.', run: getFeed },
    update: {
      description: 'Updates the given fields. The URL stays the same.',
      body: CalendarFeedPatch,
      run: updateFeed,
    },
    delete: { description: 'Deletes a calendar feed. Its URL stops working immediately.', run: deleteFeed },
    verbs: {
      rotate: {
        description: 'Replaces the URL of a calendar feed. The old URL stops working immediately.',
        summary: 'Rotate the URL of a calendar feed',
        secretFields: ['url'],
        problems: ['precondition_failed'],
        run: rotateFeed,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/calendar-feeds/:id/calendar.ics',
    guard: 'ingest',
    operationId: 'getCalendar',
    summary: 'Get the calendar of a feed',
    description:
      'Returns the calendar in iCalendar format (RFC 5545). `id` is the secret in the `url` of the feed. Can be read 60 times an hour. With If-None-Match, the response is 304 if nothing has changed.',
    hasEtag: true,
    streams: { 'text/calendar': calendarExample },
    problems: ['rate_limited', 'workspace_suspended'],
    run: (ctx, { params, ip, request }) =>
      readFeed(ctx.hub, params.id!, { ip, ifNoneMatch: request.headers.get('if-none-match') }),
  }),
])
