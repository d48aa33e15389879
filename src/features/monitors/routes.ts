import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { subjectRelations } from '../incidents/relation'
import { checkNow, lastCheck } from './check-now'
import { listMonitors, monitorListing } from './listing'
import { listMonitorTypes } from './definition/types'
import { cloneMonitor, pauseMonitor, resetMonitor, resumeMonitor } from './monitor-verbs'
import { createMonitor, deleteMonitor, getMonitor, updateMonitor } from './monitors'
import { detectMonitors } from './definition/detection'
import { suggestMonitors } from './definition/suggestions'
import { MonitorCheck, type MonitorCheckView } from './check-shapes'
import { DetectionInput, MonitorSuggestionList, MonitorTypeInfoList, SuggestionsQuery } from './definition/shapes'
import { Monitor, MonitorCloneInput, MonitorInput, MonitorList, MonitorPatch, MonitorSummary } from './shapes'
import { summarizeMonitors } from './summary'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const monitorRoutes = area('monitors', 'Monitors', [
  ...crud({
    type: 'monitor',
    response: Monitor,
    list: {
      listing: monitorListing,
      description:
        'Lists the monitors of the workspace. Sorted by `status`, problems come first: `down`, `degraded`, `unknown`, `new`, `up`, `maintenance`, `paused`.',
      response: MonitorList,
      expands: subjectRelations,
      run: listMonitors,
    },
    create: {
      description:
        'Creates a monitor and checks it immediately. Only `target` is required: a URL is checked over HTTP, `host:port` with a TCP ' +
        'connection, a hostname as a website over HTTPS, and an IP address with a ping. The name defaults to the host. A group has no `target`: it needs ' +
        'its `type` and `options` instead. An `interval_seconds` below the `monitor_interval_seconds` of the plan returns 403 `plan_limit_reached`.',
      body: MonitorInput,
      problems: ['plan_limit_reached', 'already_exists'],
      run: createMonitor,
    },
    get: {
      description: 'Returns a monitor with its current status.',
      expands: subjectRelations,
      run: getMonitor,
    },
    update: {
      description:
        'Updates fields, including fields within `options` (JSON merge patch, RFC 7396). Omitted secrets are kept, but you must send them ' +
        'again if another change would send them to a different destination. The monitor is checked immediately and keeps its status until then.',
      body: MonitorPatch,
      problems: ['plan_limit_reached', 'already_exists'],
      run: updateMonitor,
    },
    delete: {
      description:
        'Deletes a monitor and its history, and resolves its incident. It is also removed from groups and from `depends_on` of other monitors.',
      run: deleteMonitor,
    },
    verbs: {
      pause: {
        description:
          'Stops checking the monitor and resolves its incident, until you resume it. Paused time counts neither as up nor as down. Does nothing if it is already paused.',
        problems: ['precondition_failed'],
        run: pauseMonitor,
      },
      resume: {
        description:
          'Resumes a paused monitor. It starts over as new and is checked immediately. Does nothing if it is not paused.',
        problems: ['precondition_failed'],
        run: resumeMonitor,
      },
      reset: {
        description:
          'Discards the current state, as if the monitor were new: status, failure counts, flapping state, and suppressed alerts. Its incident is resolved. The history is kept.',
        problems: ['precondition_failed'],
        run: resetMonitor,
      },
      clone: {
        description: 'Creates a copy of a monitor, including its secrets, but without its key and history.',
        body: MonitorCloneInput,
        status: 201,
        collection: '/v1/monitors',
        problems: ['plan_limit_reached'],
        run: cloneMonitor,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/types',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listMonitorTypes',
    summary: 'List monitor types',
    description:
      'Lists all check types with their options as JSON Schema and the values that their conditions can use, on one page.',
    response: MonitorTypeInfoList,
    run: async () => listMonitorTypes(),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/suggestions',
    guard: read,
    operationId: 'listMonitorSuggestions',
    summary: 'List monitor suggestions',
    description:
      'Suggests monitors for a URL, `host:port`, hostname, or IP address, best match first. Creates nothing and sends no requests.',
    query: SuggestionsQuery,
    response: MonitorSuggestionList,
    run: async (_, { query }) => ({ data: suggestMonitors(query.target) }),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/detections',
    guard: write,
    action: 'monitor.detect',
    operationId: 'detectMonitors',
    summary: 'Detect monitors for a target',
    description:
      'Suggests monitors like `GET /v1/monitors/suggestions`. For `host:port` without a well-known port, it also tries HTTPS and HTTP for up to ' +
      '3 seconds, and suggests `http` first if the server answers. Requests are sent only to addresses that the network policy allows. ' +
      'Creates nothing. Limited to 30 such requests a minute per workspace.',
    body: DetectionInput,
    response: MonitorSuggestionList,
    problems: ['rate_limited'],
    run: (ctx, { body }) => detectMonitors(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/summary',
    guard: read,
    operationId: 'getMonitorSummary',
    summary: 'Get the monitor summary',
    description: 'Returns the number of monitors by status, type, and tag.',
    response: MonitorSummary,
    run: ctx => summarizeMonitors(ctx),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/:id/check',
    guard: write,
    action: 'monitor.check',
    operationId: 'checkMonitor',
    summary: 'Check a monitor now',
    description:
      'Runs a check immediately, in addition to the schedule, and returns its result, which counts like any other. The request waits as ' +
      'long as the timeout of the monitor, up to 30 seconds, or as long as `Prefer: wait=N` specifies. If there is no result by then, the response ' +
      'is 202 without one, and the check completes in the background. Groups and paused monitors can’t be checked (409). Limited to 10 checks a minute ' +
      'per monitor.',
    longPoll: true,
    response: MonitorCheck,
    otherStatus: { status: 202, applies: checked => (checked as MonitorCheckView).result === null },
    problems: ['conflict', 'rate_limited'],
    run: (ctx, { params, waiting }) => checkNow(ctx, params.id!, waiting),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/last-check',
    guard: read,
    operationId: 'getLastMonitorCheck',
    summary: 'Get the last check of a monitor',
    description:
      'Returns all details of the last check: the certificate, the conditions that were true, and the response if the result is not `up`. ' +
      'The data comes from the memory of this hub: there is no result before the first check, between a restart and the next check, or ' +
      'if another hub runs the monitor.',
    response: MonitorCheck,
    run: (ctx, { params }) => lastCheck(ctx, params.id!),
  }),
  {
    path: '/v1/monitors/bulk',
    operationId: 'bulkMonitors',
    summary: 'Create, update, pause, and delete monitors in bulk',
    description: 'Runs many operations on monitors in one request.',
    action: 'monitor.bulk',
    of: 'Monitor',
    operations: {
      create: 'createMonitor',
      update: 'updateMonitor',
      delete: 'deleteMonitor',
      pause: 'pauseMonitor',
      resume: 'resumeMonitor',
      reset: 'resetMonitor',
    },
  },
])
