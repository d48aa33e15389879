import { area, route } from '../../../api/route'
import { readLive } from './read'
import { ServerLive, ServerLiveQuery } from './shapes'

export const serverLiveRoutes = area('server-live', 'Servers and cloud', [
  route({
    method: 'GET',
    path: '/v1/servers/:id/live',
    guard: 'cloud.read',
    operationId: 'getServerLive',
    summary: 'Get live metrics of a server',
    description:
      'Returns what the agent of a server measures every 2 seconds, and keeps it measuring for the next 60 seconds. Request this again, or open a stream with `watch_servers`, to continue. Live metrics are kept in memory, and not stored. Up to 50 servers of a workspace, and 500 of a hub, can be watched at the same time.',
    query: ServerLiveQuery,
    response: ServerLive,
    problems: ['overloaded'],
    run: (ctx, { params, query }) => readLive(ctx, params.id!, query),
  }),
])
