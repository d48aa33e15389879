import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { listUpdates, updateListing } from './history'
import { reportByHand } from './report-by-hand'
import {
  DynamicIp,
  DynamicIpDeletion,
  DynamicIpInput,
  DynamicIpList,
  DynamicIpPatch,
  DynamicIpReport,
  DynamicIpTokenRotation,
  DynamicIpUpdateList,
  DynamicIpWithSecret,
  historyDescription,
  type DynamicIpDeletion as Deletion,
} from './shapes'
import {
  createDynamicIp,
  deleteDynamicIp,
  dynamicIpListing,
  getDynamicIp,
  listDynamicIps,
  pauseDynamicIp,
  resumeDynamicIp,
  revokeDynamicIpToken,
  rotateDynamicIpToken,
  updateDynamicIp,
} from './sources'

export const dynamicIpRoutes = area('dynamic-ips', 'Dynamic IP', [
  ...crud({
    type: 'dynamic_ip',
    response: DynamicIp,
    list: {
      listing: dynamicIpListing,
      description: 'Lists the dynamic IP sources of the workspace, with their hosts and records.',
      response: DynamicIpList,
      run: listDynamicIps,
    },
    create: {
      description:
        'Creates a dynamic IP source. The response contains its token, for the router or client that reports the address. Its hosts have no records until the first report.',
      body: DynamicIpInput,
      response: DynamicIpWithSecret,
      secretFields: ['secret'],
      problems: ['plan_limit_reached', 'already_exists', 'already_driven', 'record_exists'],
      run: createDynamicIp,
    },
    get: { description: 'Returns a dynamic IP source, with its hosts and records.', run: getDynamicIp },
    update: {
      description:
        'Updates the given fields. `hosts` replaces the whole list: the records of removed names stay, and become manual. Records are set to the current address in the same transaction.',
      body: DynamicIpPatch,
      problems: ['already_exists', 'already_driven', 'record_exists'],
      run: updateDynamicIp,
    },
    delete: {
      description: 'Deletes a dynamic IP source with its history. Its token stops working immediately.',
      query: DynamicIpDeletion,
      run: (ctx, id, query) => deleteDynamicIp(ctx, id, query as Deletion),
    },
    verbs: {
      pause: {
        description: 'Pauses a source: reported addresses are stored, but its records stay as they are.',
        problems: ['precondition_failed'],
        run: pauseDynamicIp,
      },
      resume: {
        description:
          'Resumes a source that is paused or held, and sets its records to the last reported addresses. Does nothing otherwise.',
        problems: ['precondition_failed'],
        run: resumeDynamicIp,
      },
      report: {
        description: 'Sets addresses as if the client had reported them.',
        summary: 'Report addresses of a dynamic IP source',
        body: DynamicIpReport,
        problems: ['conflict'],
        run: reportByHand,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/dynamic-ips/:id/rotate-token',
    guard: 'dynamic_ip.write',
    action: 'dynamic_ip.rotate_token',
    operationId: 'rotateDynamicIpToken',
    summary: 'Rotate the token of a dynamic IP source',
    description: 'Creates a new token. The old one stays valid for the grace period, a day by default.',
    body: DynamicIpTokenRotation,
    response: DynamicIpWithSecret,
    secretFields: ['secret'],
    problems: ['precondition_failed'],
    run: (ctx, { params, body }) => rotateDynamicIpToken(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/dynamic-ips/:id/revoke-token',
    guard: 'dynamic_ip.write',
    action: 'dynamic_ip.revoke_token',
    operationId: 'revokeDynamicIpToken',
    summary: 'Revoke the token of a dynamic IP source',
    description: 'Revokes the token, and the one before the last rotation. Rotate the token to create a new one.',
    response: DynamicIp,
    problems: ['precondition_failed'],
    run: (ctx, { params }) => revokeDynamicIpToken(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/dynamic-ips/:id/updates',
    guard: 'dynamic_ip.read',
    operationId: 'listDynamicIpUpdates',
    summary: 'List reports of a dynamic IP source',
    description: `Lists the reports of a source, newest first. ${historyDescription}`,
    query: listQuery(updateListing),
    response: DynamicIpUpdateList,
    run: (ctx, { params, query }) => listUpdates(ctx, params.id!, query),
  }),
])
