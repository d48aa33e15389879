import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { listQuery } from '../../core/list'
import { listClientConfigs } from './configs/list-configs'
import { DynamicIpClientConfigList } from './configs/shapes'
import { listUpdates, updateListing } from './history'
import { createFirewallLink, deleteFirewallLink, listFirewallLinks, resumeFirewallLink, updateFirewallLink } from './links'
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
  type DynamicIpDeletion as Deletion,
} from './shapes'
import { DynamicIpFirewallLink, FirewallLinkInput, FirewallLinkList, FirewallLinkPatch } from './link-shapes'
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

const cloudToo = 'Requires `cloud.write` in addition to `dynamic_ip.write`.'

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
        'Updates the given fields. `hosts` replaces the whole list: the records of removed names are kept, with the source `manual`. Records are set to the current address in the same transaction.',
      body: DynamicIpPatch,
      problems: ['already_exists', 'already_driven', 'record_exists'],
      run: updateDynamicIp,
    },
    delete: {
      description: 'Deletes a dynamic IP source with its history. Its token stops working immediately.',
      query: DynamicIpDeletion,
      problems: ['conflict'],
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
    description:
      'Lists the reports of a source, newest first. Reports that changed an address are kept for the number of days that the plan allows (`dynamic_ip_history_days`). Of the others, the last 20 are kept.',
    query: listQuery(updateListing),
    response: DynamicIpUpdateList,
    run: (ctx, { params, query }) => listUpdates(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dynamic-ips/:id/client-configs',
    guard: 'dynamic_ip.read',
    operationId: 'listDynamicIpClientConfigs',
    summary: 'List client configurations of a dynamic IP source',
    description:
      'Lists ready-to-use configurations for routers and clients, with the URL of the hub and the hosts of the source. `{{TOKEN}}` stands for the token, which is only known when it is created.',
    response: DynamicIpClientConfigList,
    run: (ctx, { params }) => listClientConfigs(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/dynamic-ips/:id/firewall-links',
    guard: 'dynamic_ip.read',
    operationId: 'listDynamicIpFirewallLinks',
    summary: 'List firewall links of a dynamic IP source',
    description: `Lists the firewall rules that follow the address of a source, on one page.`,
    response: FirewallLinkList,
    run: (ctx, { params }) => listFirewallLinks(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dynamic-ips/:id/firewall-links',
    guard: 'dynamic_ip.write',
    action: 'dynamic_ip.firewall_link.create',
    operationId: 'createDynamicIpFirewallLink',
    summary: 'Link a firewall rule to a dynamic IP source',
    description: `Lets a firewall rule follow the address of a source: its current address is added to the rule, and an old one is removed after the grace period. ${cloudToo}`,
    body: FirewallLinkInput,
    status: 201,
    noLocation: true,
    response: DynamicIpFirewallLink,
    problems: ['conflict'],
    run: (ctx, { params, body }) => createFirewallLink(ctx, params.id!, body),
  }),
  route({
    method: 'PATCH',
    path: '/v1/dynamic-ips/:id/firewall-links/:link',
    guard: 'dynamic_ip.write',
    action: 'dynamic_ip.firewall_link.update',
    operationId: 'updateDynamicIpFirewallLink',
    summary: 'Update a firewall link of a dynamic IP source',
    description: `Updates the given fields. ${cloudToo}`,
    body: FirewallLinkPatch,
    response: DynamicIpFirewallLink,
    run: (ctx, { params, body }) => updateFirewallLink(ctx, params.id!, params.link!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dynamic-ips/:id/firewall-links/:link',
    guard: 'dynamic_ip.write',
    action: 'dynamic_ip.firewall_link.delete',
    operationId: 'deleteDynamicIpFirewallLink',
    summary: 'Delete a firewall link of a dynamic IP source',
    description: `Ends the link, and removes the addresses that it added to the rule. ${cloudToo}`,
    status: 204,
    run: (ctx, { params }) => deleteFirewallLink(ctx, params.id!, params.link!),
  }),
  route({
    method: 'POST',
    path: '/v1/dynamic-ips/:id/firewall-links/:link/resume',
    guard: 'dynamic_ip.write',
    action: 'dynamic_ip.firewall_link.resume',
    operationId: 'resumeDynamicIpFirewallLink',
    summary: 'Resume a firewall link of a dynamic IP source',
    description: `Lets a link that is paused or failed follow its source again. ${cloudToo}`,
    response: DynamicIpFirewallLink,
    run: (ctx, { params }) => resumeFirewallLink(ctx, params.id!, params.link!),
  }),
])
