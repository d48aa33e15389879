import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { subjectRelations } from '../incidents/relation'
import { checkNow, lastCheck } from './check-now'
import { listMonitors, monitorListing } from './listing'
import { listMonitorTypes } from './monitor-types'
import { cloneMonitor, pauseMonitor, resetMonitor, resumeMonitor } from './monitor-verbs'
import { createMonitor, deleteMonitor, getMonitor, updateMonitor } from './monitors'
import { proposalsFor } from './proposals'
import {
  Monitor,
  MonitorCheck,
  MonitorClone,
  MonitorInput,
  MonitorList,
  MonitorPatch,
  MonitorProposalList,
  MonitorSummary,
  MonitorTypeList,
  ProposalsQuery,
  type MonitorCheckView,
} from './shapes'
import { summariseMonitors } from './summary'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const monitorRoutes = area('monitors', 'Monitors', [
  route({
    method: 'GET',
    path: '/v1/monitors',
    guard: read,
    operationId: 'listMonitors',
    summary: 'List monitors',
    description: 'Monitors of the workspace.',
    query: listQuery(monitorListing),
    answer: MonitorList,
    expands: subjectRelations,
    run: (ctx, { query }) => listMonitors(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors',
    guard: write,
    action: 'monitor.create',
    operationId: 'createMonitor',
    summary: 'Create a monitor',
    description:
      'Makes a monitor, which is checked at once. A target alone is enough: a URL is checked over HTTP, `host:port` by a TCP ' +
      'connection, a host name as a web site over HTTPS, an address by a ping, and the name is the host’s.',
    body: MonitorInput,
    status: 201,
    answer: Monitor,
    problems: ['plan_limit_reached', 'already_exists'],
    run: (ctx, { body }) => createMonitor(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/types',
    guard: read,
    narrowed: 'open',
    operationId: 'listMonitorTypes',
    summary: 'List types of monitors',
    description: 'What can be checked, on one page: the options of each type as a schema, and what conditions can ask of it.',
    answer: MonitorTypeList,
    run: async () => listMonitorTypes(),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/proposals',
    guard: read,
    operationId: 'proposeMonitors',
    summary: 'Propose monitors',
    description:
      'What could be watched of a URL, `host:port`, a name or an address, the likeliest first. It makes nothing and asks nobody.',
    query: ProposalsQuery,
    answer: MonitorProposalList,
    run: async (_, { query }) => ({ data: proposalsFor(query.target) }),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/summary',
    guard: read,
    operationId: 'summariseMonitors',
    summary: 'Count monitors',
    description: 'How many monitors there are, by status, type and tag.',
    answer: MonitorSummary,
    run: ctx => summariseMonitors(ctx),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id',
    guard: read,
    operationId: 'getMonitor',
    summary: 'Read a monitor',
    description: 'A monitor with its status.',
    answer: Monitor,
    expands: subjectRelations,
    run: (ctx, { params }) => getMonitor(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/monitors/:id',
    guard: write,
    action: 'monitor.update',
    operationId: 'updateMonitor',
    summary: 'Edit a monitor',
    description:
      'Changes members (JSON merge patch, RFC 7396), also within `options`. Secrets that are not named stay, but have to be given ' +
      'again where another member sends them elsewhere. It is checked at once; what was found before counts until then.',
    body: MonitorPatch,
    answer: Monitor,
    problems: ['plan_limit_reached', 'already_exists'],
    run: (ctx, { params, body }) => updateMonitor(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/monitors/:id',
    guard: write,
    action: 'monitor.delete',
    operationId: 'deleteMonitor',
    summary: 'Delete a monitor',
    description:
      'Removes a monitor with its history, and resolves its incident. Groups and monitors that name it name it no more.',
    status: 204,
    run: (ctx, { params }) => deleteMonitor(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/:id/check',
    guard: write,
    action: 'monitor.check',
    operationId: 'checkMonitor',
    summary: 'Check a monitor now',
    description:
      'Checks it at once, beside its schedule, and answers with what was found, which counts like any other result. It waits for as ' +
      'long as the check may take, 30 s at most, or as `Prefer: wait=N` says; a 202 is without a result, which then comes by itself. ' +
      'Ten a minute and monitor.',
    waits: true,
    answer: MonitorCheck,
    otherStatus: { status: 202, applies: checked => (checked as MonitorCheckView).result === null },
    problems: ['conflict', 'rate_limited'],
    run: (ctx, { params, waiting }) => checkNow(ctx, params.id!, waiting),
  }),
  route({
    method: 'GET',
    path: '/v1/monitors/:id/last-check',
    guard: read,
    operationId: 'getLastCheck',
    summary: 'Read the last check of a monitor',
    description:
      'All that the last check found: its certificate, conditions that held, and what came back where it is not up. From the memory of ' +
      'the hub that answers; without a result before the first check, after a restart until the next, and of what another hub checks.',
    answer: MonitorCheck,
    run: (ctx, { params }) => lastCheck(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/:id/pause',
    guard: write,
    action: 'monitor.pause',
    operationId: 'pauseMonitor',
    summary: 'Pause a monitor',
    description: 'Stops checking it, and resolves its incident. The time counts neither as up nor as down.',
    answer: Monitor,
    run: (ctx, { params }) => pauseMonitor(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/:id/resume',
    guard: write,
    action: 'monitor.resume',
    operationId: 'resumeMonitor',
    summary: 'Resume a monitor',
    description: 'Checks it again, at once and as if it were new.',
    answer: Monitor,
    run: (ctx, { params }) => resumeMonitor(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/:id/reset',
    guard: write,
    action: 'monitor.reset',
    operationId: 'resetMonitor',
    summary: 'Begin a monitor anew',
    description:
      'Forgets how it stood, as if it were new: streaks, flapping, alerts that are held back. Its incident is resolved; its history stays.',
    answer: Monitor,
    run: (ctx, { params }) => resetMonitor(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/monitors/:id/clone',
    guard: write,
    action: 'monitor.clone',
    operationId: 'cloneMonitor',
    summary: 'Copy a monitor',
    description: 'Makes a monitor like it, secrets among its options, without its key and its history.',
    body: MonitorClone,
    status: 201,
    addsTo: '/v1/monitors',
    answer: Monitor,
    problems: ['plan_limit_reached'],
    run: (ctx, { params, body }) => cloneMonitor(ctx, params.id!, body),
  }),
  {
    path: '/v1/monitors/bulk',
    operationId: 'bulkMonitors',
    summary: 'Create, edit, pause and delete monitors',
    description: 'Many monitors at once.',
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
