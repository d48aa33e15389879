import { area, route } from '../../access/route'
import { openStream } from './open'
import { streamExample, StreamQuery } from './shapes'

export const liveRoutes = area('live', 'Live', [
  route({
    method: 'GET',
    path: '/v1/stream',
    guard: 'signed_in',
    operationId: 'openStream',
    summary: 'Hear what changes',
    description:
      'Server-sent events (WHATWG HTML, section 9.2), until one side ends it: `hello` at the beginning, `change` with what was changed ' +
      'in the areas that the caller may read, `reset` where everything is to be read anew, and `results` and `heartbeats` of what is watched by name. The handbook’s page on live updates has ' +
      'the members of each. A credential may hold twenty streams, a hub five hundred.',
    query: StreamQuery,
    streams: { 'text/event-stream': streamExample },
    workspaceInQuery: true,
    narrowed: 'verb',
    run: openStream,
  }),
])
