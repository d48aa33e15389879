import { Type } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import type { Relations } from '../../core/relation'
import { followEvents } from './feed'
import { eventListing, getEvent, listEvents } from './list'
import { Event, EventList } from './shapes'

const eventQuery = Type.Object(
  {
    ...listQuery(eventListing).properties,
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          'Returns events after this position in the feed: the `next_cursor` of the previous page, the ID of an event, ' +
          '`oldest` (the oldest stored event), or `latest` (only events from now on). Can be combined with filters, but not with `cursor`, `sort`, or `include`.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** @param relations of events */
export const eventRoutes = (relations: Relations): AnyElysia =>
  area('events', 'Events', [
    route({
      method: 'GET',
      path: '/v1/events',
      guard: 'signed_in',
      operationId: 'listEvents',
      summary: 'List or follow events',
      description:
        'Lists the events of the areas you have read permission for, newest first. With `after`, returns the event feed: oldest ' +
        'first, in ' +
        'commit order, so that following `next_cursor` misses no event. In the feed, `next_cursor` is never null, and with ' +
        '`Prefer: wait=N` an empty page is returned only after N seconds. On each hub, up to 50 requests per workspace can wait at the same time. ' +
        'Further requests return 429. Events are kept for the number of days that the plan allows (`event_feed_days`); if events after the position in `after` were ' +
        'deleted, the response is 410 `cursor_expired`.',
      query: eventQuery,
      response: EventList,
      expands: relations,
      longPoll: true,
      problems: ['cursor_expired', 'overloaded'],
      run: (ctx, { query, waiting }) => (query.after === undefined ? listEvents(ctx, query) : followEvents(ctx, query, waiting)),
    }),
    route({
      method: 'GET',
      path: '/v1/events/:id',
      guard: 'signed_in',
      operationId: 'getEvent',
      summary: 'Get an event',
      description: 'Returns an event. Requires read permission on its area; without it, the response is 404.',
      response: Event,
      expands: relations,
      restrictedTokens: 'handler',
      run: (ctx, { params }) => getEvent(ctx, params.id!),
    }),
  ])
