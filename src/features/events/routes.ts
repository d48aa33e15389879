import { Type } from '@sinclair/typebox'
import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { followEvents } from './feed'
import { eventListing, getEvent, listEvents } from './list'
import { eventRelations } from './relations'
import { Event, EventList } from './shapes'

const eventQuery = Type.Object(
  {
    ...listQuery(eventListing).properties,
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          'Follow the feed from behind this place: `next_cursor` of the page before, the id of an event, `oldest` or `latest`. ' +
          'Goes with the filters, not with `cursor`, `sort` or `include`.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const eventRoutes = area('events', 'Events', [
  route({
    method: 'GET',
    path: '/v1/events',
    guard: 'signed_in',
    operationId: 'listEvents',
    summary: 'List or follow events',
    description:
      'What happened in the workspace, in the areas the caller may read: newest first, or with `after` the feed, oldest first in ' +
      'the order of commits, where following `next_cursor` misses nothing. `next_cursor` of the feed is never null; with ' +
      '`Prefer: wait=N` an answer with nothing in it comes only after N seconds. Fifty requests of a workspace may wait in a hub.',
    query: eventQuery,
    answer: EventList,
    expands: eventRelations,
    waits: true,
    problems: ['cursor_expired', 'overloaded'],
    run: (ctx, { query, waiting }) => (query.after === undefined ? listEvents(ctx, query) : followEvents(ctx, query, waiting)),
  }),
  route({
    method: 'GET',
    path: '/v1/events/:id',
    guard: 'signed_in',
    operationId: 'getEvent',
    summary: 'Read an event',
    description: 'One event, if the caller may read its area.',
    answer: Event,
    expands: eventRelations,
    narrowed: 'verb',
    run: (ctx, { params }) => getEvent(ctx, params.id!),
  }),
])
