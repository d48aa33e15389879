import { area, route } from '../../api/route'
import { openStream } from './open-stream'
import { streamExample, StreamQuery } from './shapes'

export const liveRoutes = area('live', 'Live', [
  route({
    method: 'GET',
    path: '/v1/stream',
    guard: 'signed_in',
    operationId: 'openStream',
    summary: 'Stream changes',
    description:
      'Streams changes as server-sent events (WHATWG HTML, section 9.2) until one side closes the connection: `hello` at the start, ' +
      '`change` for changes in the areas you have read permission for, `reset` if you should reload everything, `results` and ' +
      '`heartbeats` for the monitors and heartbeats you watch, and `live` for the servers you watch. The handbook page on live updates lists the fields of each event. ' +
      'At most 20 streams per token or session, and 500 per hub, can be open at the same time; more return 429.',
    query: StreamQuery,
    streams: { 'text/event-stream': streamExample },
    workspaceInQuery: true,
    restrictedTokens: 'handler',
    run: openStream,
  }),
])
