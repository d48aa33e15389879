import type { Asked } from '../../access/route'
import type { EventStream } from '../../access/event-stream'
import type { Ctx } from '../../core/ctx'
import { notFound } from '../../core/problem'
import { Listener } from './listener'
import { liveOf } from './live'
import type { StreamQuery } from './shapes'
import { watchables } from './watched'

/**
 * A stream of what changes in the workspace, as far as the caller may know of it. It ends with the credential.
 * @throws Problem 404 for another workspace than the token's, 429
 */
export async function openStream(ctx: Ctx, { query, request, again }: Asked<StreamQuery, unknown>): Promise<EventStream> {
  if ((query.workspace ?? ctx.workspaceId) !== ctx.workspaceId) throw notFound('workspace')
  const live = liveOf(ctx.hub)
  const { permissions, resourceIds } = ctx
  const holder = ctx.sessionId ?? ctx.actor.id
  const listener = new Listener(ctx.workspaceId, holder, { permissions, resourceIds }, again, one => live.leave(one))
  const asked = [query.watch, query.watch_heartbeats]
  if (permissions.has('monitoring.read'))
    listener.watches = await Promise.all(watchables.map((kind, place) => (asked[place] ? kind.mine(ctx, asked[place]) : [])))
  request.signal.addEventListener('abort', () => listener.stream.close())
  await live.begin(listener, request.headers.get('last-event-id') || query.since || null)
  // Of HEAD nobody reads more than the headers.
  if (request.method === 'HEAD') listener.stream.close()
  return listener.stream
}
