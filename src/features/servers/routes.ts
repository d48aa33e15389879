import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { Action } from '../actions/shapes'
import { performServerAction } from './actions/start'
import { ServerMonitors } from './monitor-shapes'
import { listServerMonitors } from './monitors'
import { listFacts } from './facts'
import { serverRelations } from './relations'
import { createServer, deleteServer, getServer, listServers, serverListing, updateServer } from './servers'
import {
  Server,
  ServerActionInput,
  ServerCreation,
  ServerDeletion,
  ServerFactList,
  ServerInput,
  ServerList,
  ServerPatch,
  ServerQuote,
  ServerTransitionList,
  type ServerDeletion as Deletion,
} from './shapes'
import { listTransitions, transitionListing } from './transitions'

export const serverRoutes = area('servers', 'Servers and cloud', [
  ...crud({
    type: 'server',
    response: Server,
    list: {
      listing: serverListing,
      description: 'Lists the servers of the workspace. Deleted servers are not included.',
      expands: serverRelations,
      response: ServerList,
      run: listServers,
    },
    get: {
      description: 'Returns a server. A deleted server can be read for 30 days.',
      expands: serverRelations,
      run: getServer,
    },
    update: {
      description:
        'Updates the given fields. Fields of the order, such as `size` and `image`, can only be updated as long as the server is a draft; use actions for servers that exist. ' +
        'If you change labels, firewalls are attached or detached according to their label selectors. Dangerous changes fail with a 409 `plan_blocked`; override the reasons with `allow` and a `note`.',
      body: ServerPatch,
      problems: ['conflict', 'plan_blocked', 'restricted_token'],
      run: updateServer,
    },
  }),
  route({
    method: 'POST',
    path: '/v1/servers',
    guard: 'cloud.write',
    action: 'cloud.server.create',
    operationId: 'createServer',
    summary: 'Create a server',
    description:
      'Creates a server at a cloud: the response has the status `provisioning` and the action that creates it as `action_id`. With `provision: false`, it is a draft that the ' +
      'action `provision` creates later. Without an `account_id`, a server that exists elsewhere is added. With `Prefer: wait`, the response is delayed until the action has finished. ' +
      'With `dry_run`, nothing is created: the response has the status 200, the price, and the problems of the request.',
    query: ServerCreation,
    body: ServerInput,
    status: 201,
    response: Server,
    otherStatus: { status: 200, response: ServerQuote, applies: result => 'problems' in (result as object) },
    needsIdempotencyKey: true,
    longPoll: true,
    problems: [
      'plan_limit_reached',
      'spend_cap_reached',
      'price_unknown',
      'price_above_maximum',
      'conflict',
      'resource_locked',
      'provider_failed',
      'rate_limited',
    ],
    run: (ctx, { body, query, waiting }) => createServer(ctx, body, query, waiting),
  }),
  route({
    method: 'DELETE',
    path: '/v1/servers/:id',
    guard: 'cloud.write',
    action: 'cloud.server.delete',
    operationId: 'deleteServer',
    summary: 'Delete a server',
    description:
      'Deletes a server. If it exists at a cloud, `at_provider` is required: `destroy` starts an action that deletes it there (202), and `keep` only removes it from the workspace (204). A server that has been deleted at its cloud stays readable for 30 days.',
    query: ServerDeletion,
    status: 204,
    otherStatus: { status: 202, response: Action, applies: result => result !== undefined },
    collection: '/v1/actions',
    problems: ['conflict', 'protected', 'resource_locked', 'unsupported_action', 'validation_failed'],
    run: (ctx, { params, query }) => deleteServer(ctx, params.id!, query as Deletion),
  }),
  route({
    method: 'POST',
    path: '/v1/servers/:id/actions',
    guard: 'cloud.write',
    action: 'cloud.server.act',
    operationId: 'performServerAction',
    summary: 'Perform an action on a server',
    description:
      'Starts an action, such as `power_on`, `shutdown`, or `resize`. `actions` of the server lists those that are possible now. If the server already is in the requested state, the action has succeeded ' +
      'with the result `unchanged`. With `Prefer: wait`, the response is delayed until the action has finished.',
    body: ServerActionInput,
    status: 202,
    response: Action,
    collection: '/v1/actions',
    longPoll: true,
    problems: [
      'plan_limit_reached',
      'conflict',
      'protected',
      'resource_locked',
      'unsupported_action',
      'spend_cap_reached',
      'price_unknown',
      'price_above_maximum',
      'provider_failed',
      'rate_limited',
    ],
    run: (ctx, { params, body, waiting }) => performServerAction(ctx, params.id!, body, waiting),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/facts',
    guard: 'cloud.read',
    operationId: 'listServerFacts',
    summary: 'List facts about a server',
    description: 'Lists what is known about a server, where each fact comes from, how old it is, and what other sources say.',
    response: ServerFactList,
    run: (ctx, { params }) => listFacts(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/monitors',
    guard: 'cloud.read',
    operationId: 'listServerMonitors',
    summary: 'List the monitors at the addresses of a server',
    description:
      'Lists up to 200 monitors whose targets are at a server, and the monitor that follows the server. If you add the monitor of the server to the `depends_on` of the others, a server that is down causes only one alert. A target is at a server if it is an address of the server, if it is a name with a record for such an address in the DNS zones of the workspace, or if the last check by this hub connected to such an address. Up to 200 of these names are considered, and up to 200 aliases (CNAME records) of the first 20 names. No DNS queries are sent. Without `monitoring.read`, the list is empty, and without `dns.read`, records are not considered.',
    response: ServerMonitors,
    run: (ctx, { params }) => listServerMonitors(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/transitions',
    guard: 'cloud.read',
    operationId: 'listServerTransitions',
    summary: 'List state changes of a server',
    description: 'Lists the changes of the status, health, and power of a server, newest first. They are kept for 90 days.',
    query: listQuery(transitionListing),
    response: ServerTransitionList,
    run: (ctx, { params, query }) => listTransitions(ctx, params.id!, query),
  }),
])
