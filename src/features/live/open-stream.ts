import type { RouteInput } from '../../api/route-declaration'
import type { EventStream } from '../../api/event-stream'
import type { Ctx } from '../../core/ctx'
import { notFound } from '../../core/problem'
import { Listener } from './listener'
import { liveOf } from './live'
import type { StreamQuery } from './shapes'
import { watchKinds } from './watched-resources'

/**
 * Opens a stream of the changes in the workspace that the caller may see. It ends when the credential becomes invalid.
 * @throws Problem 404 for another workspace than the token's, 429
 */
export async function openStream(
  ctx: Ctx,
  { query, request, reauthenticate }: RouteInput<StreamQuery, unknown>,
): Promise<EventStream> {
  if ((query.workspace ?? ctx.workspaceId) !== ctx.workspaceId) throw notFound('workspace')
  const live = liveOf(ctx.hub)
  const { permissions, resourceIds } = ctx
  const holder = ctx.sessionId ?? ctx.actor.id
  const listener = new Listener(ctx.workspaceId, holder, { permissions, resourceIds }, reauthenticate, one => live.remove(one))
  const watched = [query.watch, query.watch_heartbeats, query.watch_servers]
  listener.watches = await Promise.all(
    watchKinds.map((kind, at) => (watched[at] && permissions.has(kind.permission) ? kind.accessibleIds(ctx, watched[at]) : [])),
  )
  request.signal.addEventListener('abort', () => listener.stream.close())
  await live.open(listener, request.headers.get('last-event-id') || query.since || null)
  // HEAD only needs the headers.
  if (request.method === 'HEAD') listener.stream.close()
  return listener.stream
}
