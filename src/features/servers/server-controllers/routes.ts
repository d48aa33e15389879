import { area, route } from '../../../api/route'
import {
  checkController,
  deleteController,
  listControllerKinds,
  listServerControllers,
  putController,
} from './server-controllers'
import { ControllerKindInfoList, ServerController, ServerControllerInput, ServerControllerList } from './shapes'

const read = 'cloud.read'
const write = 'cloud.write'

export const serverControllerRoutes = area('server-controllers', 'Servers and cloud', [
  route({
    method: 'GET',
    path: '/v1/controller-kinds',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listControllerKinds',
    summary: 'List controller kinds',
    description: 'Lists the supported kinds of controllers, with their settings and capabilities, on one page.',
    response: ControllerKindInfoList,
    run: async () => listControllerKinds(),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/controllers',
    guard: read,
    operationId: 'listServerControllers',
    summary: 'List controllers of a server',
    description: 'Lists the controllers of a server on one page, without secrets.',
    response: ServerControllerList,
    run: (ctx, { params }) => listServerControllers(ctx, params.id!),
  }),
  route({
    method: 'PUT',
    path: '/v1/servers/:id/controllers/:kind',
    guard: write,
    action: 'cloud.controller.update',
    operationId: 'replaceServerController',
    summary: 'Create or replace a controller of a server',
    description:
      'Sets the controller of this kind, replacing the settings of an existing one. Omitted secrets are kept, but must be sent again if a change would send them to another server; `null` removes one. ' +
      'The controller is checked right after the response; until then its `state` is `unknown`. `If-Match` is compared with the version of the controller.',
    body: ServerControllerInput,
    response: ServerController,
    problems: ['conflict', 'already_exists'],
    run: (ctx, { params, body }) => putController(ctx, params.id!, params.kind!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/servers/:id/controllers/:kind',
    guard: write,
    action: 'cloud.controller.delete',
    operationId: 'deleteServerController',
    summary: 'Delete a controller of a server',
    description: 'Deletes a controller with its secrets. Nothing changes at the server.',
    status: 204,
    run: (ctx, { params }) => deleteController(ctx, params.id!, params.kind!),
  }),
  route({
    method: 'POST',
    path: '/v1/servers/:id/controllers/:kind/check',
    guard: write,
    action: 'cloud.controller.check',
    operationId: 'checkServerController',
    summary: 'Check a controller of a server',
    description:
      'Checks whether the controller can be reached and accepts the credentials, and returns the result in `state`, `detail`, and `last_error`. Nothing changes at the server. ' +
      'Limited to 5 requests a minute per controller. Controllers are also checked automatically every 10 minutes.',
    response: ServerController,
    problems: ['conflict', 'rate_limited'],
    run: (ctx, { params }) => checkController(ctx, params.id!, params.kind!),
  }),
])
