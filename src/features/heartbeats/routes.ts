import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { subjectRelations } from '../incidents/relation'
import {
  createHeartbeat,
  deleteHeartbeat,
  getHeartbeat,
  heartbeatListing,
  listHeartbeats,
  pauseHeartbeat,
  resumeHeartbeat,
  rotateHeartbeat,
  updateHeartbeat,
} from './heartbeats'
import { flipListing, getPing, listFlips, listPings, pingListing } from './history'
import { getPingKey, rotatePingKey } from './pings/keys'
import { previewSchedule } from './schedule/preview'
import { listRecentPings } from './pings/recent'
import {
  DueTimes,
  DueTimesQuery,
  FlipList,
  Heartbeat,
  HeartbeatInput,
  HeartbeatList,
  HeartbeatPatch,
  PingKey,
  PingList,
  PingWithBody,
  RecentPingsList,
  RecentPingsQuery,
} from './shapes'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const heartbeatRoutes = area('heartbeats', 'Heartbeats', [
  ...crud({
    type: 'heartbeat',
    response: Heartbeat,
    list: {
      listing: heartbeatListing,
      description: 'Lists the heartbeats of the workspace.',
      response: HeartbeatList,
      expands: subjectRelations,
      run: listHeartbeats,
    },
    create: {
      description: 'Creates a heartbeat. The response contains its ping URL, to call from your job.',
      body: HeartbeatInput,
      secretFields: ['uuid', 'ping_url'],
      problems: ['plan_limit_reached'],
      run: createHeartbeat,
    },
    get: {
      description: 'Returns a heartbeat with its current status.',
      expands: subjectRelations,
      run: getHeartbeat,
    },
    update: {
      description:
        'Updates the given fields, including those within `schedule` (JSON merge patch, RFC 7396). With a new schedule, the next ping is due relative to the last one; a heartbeat that is down stays down until the next ping.',
      body: HeartbeatPatch,
      run: updateHeartbeat,
    },
    delete: {
      description: 'Deletes a heartbeat with its pings and status changes, and resolves its incident.',
      run: deleteHeartbeat,
    },
    verbs: {
      pause: {
        description:
          'Stops expecting pings, and resolves the incident of the heartbeat. The next ping that reports a success or failure resumes the heartbeat, unless `manual_resume` is true.',
        inBulk: true,
        secretFields: ['uuid', 'ping_url'],
        problems: ['precondition_failed'],
        run: pauseHeartbeat,
      },
      resume: {
        description:
          'Resumes a paused heartbeat. Its status is `new` until its next ping, and no alert is raised before that ping. Does nothing if it is not paused.',
        inBulk: true,
        secretFields: ['uuid', 'ping_url'],
        problems: ['precondition_failed'],
        run: resumeHeartbeat,
      },
      rotate: {
        description: 'Replaces the UUID in the ping URL. The old URL stops working immediately.',
        summary: 'Rotate the ping URL of a heartbeat',
        secretFields: ['uuid', 'ping_url'],
        problems: ['precondition_failed'],
        run: rotateHeartbeat,
      },
    },
    bulk: 'Runs many operations on heartbeats in one request.',
  }),
  route({
    method: 'GET',
    path: '/v1/heartbeats/recent',
    guard: read,
    operationId: 'listRecentPings',
    summary: 'List recent pings of heartbeats',
    description: 'Returns the last pings, 30 by default, of each of up to 100 heartbeats in one response.',
    query: RecentPingsQuery,
    response: RecentPingsList,
    run: (ctx, { query }) => listRecentPings(ctx, query.ids, query.pings),
  }),
  route({
    method: 'GET',
    path: '/v1/heartbeats/due-times',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'previewSchedule',
    summary: 'Preview a heartbeat schedule',
    description:
      'Validates a cron or calendar expression and returns the next times it expects a ping, without creating a heartbeat.',
    query: DueTimesQuery,
    response: DueTimes,
    run: async (ctx, { query }) => previewSchedule(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/heartbeats/ping-key',
    guard: write,
    operationId: 'getPingKey',
    summary: 'Get the ping key',
    description: 'Returns the workspace’s key for ping URLs with slugs, `/ping/<key>/<slug>`. The first request creates it.',
    response: PingKey,
    run: ctx => getPingKey(ctx),
  }),
  route({
    method: 'POST',
    path: '/v1/heartbeats/ping-key/rotate',
    guard: write,
    action: 'heartbeat.ping_key.rotate',
    operationId: 'rotatePingKey',
    summary: 'Rotate the ping key',
    description: 'Replaces the ping key. URLs with the old key stop working immediately.',
    response: PingKey,
    secretFields: ['ping_key', 'ping_url'],
    run: ctx => rotatePingKey(ctx),
  }),
  route({
    method: 'GET',
    path: '/v1/heartbeats/:id/pings',
    guard: read,
    operationId: 'listPings',
    summary: 'List pings of a heartbeat',
    description: 'Lists the pings of a heartbeat, newest first. At least the last 100 are stored.',
    query: listQuery(pingListing),
    response: PingList,
    run: (ctx, { params, query }) => listPings(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/heartbeats/:id/pings/:n',
    guard: read,
    operationId: 'getPing',
    summary: 'Get a ping of a heartbeat',
    description: 'Returns a ping with its body.',
    response: PingWithBody,
    run: (ctx, { params }) => getPing(ctx, params.id!, params.n!),
  }),
  route({
    method: 'GET',
    path: '/v1/heartbeats/:id/flips',
    guard: read,
    operationId: 'listFlips',
    summary: 'List status changes of a heartbeat',
    description: 'Lists the status changes of a heartbeat, newest first. They are kept for 93 days.',
    query: listQuery(flipListing),
    response: FlipList,
    run: (ctx, { params, query }) => listFlips(ctx, params.id!, query),
  }),
])
