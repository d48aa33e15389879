import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { eventListing, getEvent, listEvents } from './list'
import { Event, EventList } from './shapes'

export const eventRoutes = area('events', 'Events', [
  route({
    method: 'GET',
    path: '/v1/events',
    guard: 'signed_in',
    operationId: 'listEvents',
    summary: 'List events',
    description: 'What happened in the workspace, newest first, in the areas the caller may read.',
    query: listQuery(eventListing),
    answer: EventList,
    run: (ctx, { query }) => listEvents(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/events/:id',
    guard: 'signed_in',
    operationId: 'getEvent',
    summary: 'Read an event',
    description: 'One event, if the caller may read its area.',
    answer: Event,
    narrowed: 'verb',
    run: (ctx, { params }) => getEvent(ctx, params.id!),
  }),
])
