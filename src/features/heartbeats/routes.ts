import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { createHeartbeat, deleteHeartbeat, getHeartbeat, heartbeatListing, listHeartbeats, pauseHeartbeat, resumeHeartbeat, rotateHeartbeat, updateHeartbeat } from './heartbeats'
import { flipListing, getPing, listFlips, listPings, pingListing } from './history'
import { getPingKey, rotatePingKey } from './ping-keys'
import { FlipList, Heartbeat, HeartbeatInput, HeartbeatList, HeartbeatPatch, PingKey, PingList, PingWithBody } from './shapes'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const heartbeatRoutes = area('heartbeats', 'Heartbeats', [
  route({
    method: 'GET', path: '/v1/heartbeats', guard: read, operationId: 'listHeartbeats', summary: 'List heartbeats', description: 'Heartbeats of the workspace.',
    query: listQuery(heartbeatListing), answer: HeartbeatList, run: (ctx, { query }) => listHeartbeats(ctx, query),
  }),
  route({
    method: 'POST', path: '/v1/heartbeats', guard: write, action: 'heartbeat.create', operationId: 'createHeartbeat', summary: 'Create a heartbeat',
    description: 'Makes a heartbeat; the answer has the address to ping.', body: HeartbeatInput, status: 201, answer: Heartbeat, once: ['uuid', 'ping_url'], problems: ['plan_limit_reached'],
    run: (ctx, { body }) => createHeartbeat(ctx, body),
  }),
  route({
    method: 'GET', path: '/v1/heartbeats/ping-key', guard: write, operationId: 'getPingKey', summary: 'Read the ping key',
    description: 'The workspace’s key for ping addresses by slug, `/ping/<key>/<slug>`.', answer: PingKey, run: ctx => getPingKey(ctx),
  }),
  route({
    method: 'POST', path: '/v1/heartbeats/ping-key/rotate', guard: write, action: 'heartbeat.ping_key.rotate', operationId: 'rotatePingKey', summary: 'Rotate the ping key',
    description: 'Makes a new ping key; addresses with the old one stop working at once.', answer: PingKey, once: ['ping_key', 'ping_url'], run: ctx => rotatePingKey(ctx),
  }),
  route({
    method: 'GET', path: '/v1/heartbeats/:id', guard: read, operationId: 'getHeartbeat', summary: 'Read a heartbeat', description: 'A heartbeat with its status.',
    answer: Heartbeat, run: (ctx, { params }) => getHeartbeat(ctx, params.id!),
  }),
  route({
    method: 'PATCH', path: '/v1/heartbeats/:id', guard: write, action: 'heartbeat.update', operationId: 'updateHeartbeat', summary: 'Edit a heartbeat',
    description: 'Changes members (JSON merge patch, RFC 7396). Members of the schedule are merged too; a new schedule counts from the last ping.', body: HeartbeatPatch, answer: Heartbeat,
    run: (ctx, { params, body }) => updateHeartbeat(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE', path: '/v1/heartbeats/:id', guard: write, action: 'heartbeat.delete', operationId: 'deleteHeartbeat', summary: 'Delete a heartbeat',
    description: 'Removes a heartbeat with its pings and changes of status.', status: 204, run: (ctx, { params }) => deleteHeartbeat(ctx, params.id!),
  }),
  route({
    method: 'POST', path: '/v1/heartbeats/:id/pause', guard: write, action: 'heartbeat.pause', operationId: 'pauseHeartbeat', summary: 'Pause a heartbeat',
    description: 'Stops expecting pings. A ping resumes it unless `manual_resume` is set.', answer: Heartbeat, once: ['uuid', 'ping_url'], run: (ctx, { params }) => pauseHeartbeat(ctx, params.id!),
  }),
  route({
    method: 'POST', path: '/v1/heartbeats/:id/resume', guard: write, action: 'heartbeat.resume', operationId: 'resumeHeartbeat', summary: 'Resume a heartbeat',
    description: 'Waits for the next ping as a new heartbeat does.', answer: Heartbeat, once: ['uuid', 'ping_url'], run: (ctx, { params }) => resumeHeartbeat(ctx, params.id!),
  }),
  route({
    method: 'POST', path: '/v1/heartbeats/:id/rotate', guard: write, action: 'heartbeat.rotate', operationId: 'rotateHeartbeat', summary: 'Rotate the UUID',
    description: 'Gives the heartbeat a new UUID; the old address stops working at once.', answer: Heartbeat, once: ['uuid', 'ping_url'], run: (ctx, { params }) => rotateHeartbeat(ctx, params.id!),
  }),
  route({
    method: 'GET', path: '/v1/heartbeats/:id/pings', guard: read, operationId: 'listPings', summary: 'List pings', description: 'The last pings of a heartbeat, newest first; at least a hundred are kept.',
    query: listQuery(pingListing), answer: PingList, run: (ctx, { params, query }) => listPings(ctx, params.id!, query),
  }),
  route({
    method: 'GET', path: '/v1/heartbeats/:id/pings/:n', guard: read, operationId: 'getPing', summary: 'Read a ping', description: 'A ping with the body it carried.',
    answer: PingWithBody, run: (ctx, { params }) => getPing(ctx, params.id!, params.n!),
  }),
  route({
    method: 'GET', path: '/v1/heartbeats/:id/flips', guard: read, operationId: 'listFlips', summary: 'List changes of status', description: 'Changes of status of a heartbeat, newest first; kept for 93 days.',
    query: listQuery(flipListing), answer: FlipList, run: (ctx, { params, query }) => listFlips(ctx, params.id!, query),
  }),
])
