import { area, route } from '../../../api/route'
import { Action } from '../../actions/shapes'
import { refreshZone } from '../sync/refresh'
import { RefreshInput, TargetInput, TargetList, ZoneTarget } from './shapes'
import { createTarget, deleteTarget, listTargets } from './targets'

const read = 'dns.read'
const write = 'dns.write'

export const dnsTargetRoutes = area('dns-targets', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/targets',
    guard: read,
    operationId: 'listZoneTargets',
    summary: 'List sync targets of a zone',
    description:
      'Lists the sync targets of a zone, which are the providers that it is synced to, on one page. The built-in name server is not included.',
    response: TargetList,
    run: (ctx, { params }) => listTargets(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/targets',
    guard: write,
    action: 'dns.target.create',
    operationId: 'createZoneTarget',
    summary: 'Add a sync target to a zone',
    description:
      'Adds a provider that the zone is synced to; a zone can have up to 10 (409). The zone is read from there right after the response: record sets that exist only there become `unmanaged`, ' +
      'and record sets that differ become a `conflict`. You can adopt them, or revert them with a plan; Bailiwick changes neither, unless `unmanaged` of the zone is `delete`. Record sets that exist only in Bailiwick are created there, unless the zone has `apply` set to `manual`. If the provider has no such zone and supports ' +
      'creating zones, the zone is created.',
    body: TargetInput,
    status: 201,
    noLocation: true,
    response: ZoneTarget,
    problems: ['already_exists', 'conflict', 'precondition_failed'],
    run: (ctx, { params, body }) => createTarget(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dns/zones/:id/targets/:target',
    guard: write,
    action: 'dns.target.delete',
    operationId: 'deleteZoneTarget',
    summary: 'Remove a sync target from a zone',
    description:
      'Stops syncing the zone to a provider. The zone is kept there. If the built-in name server does not serve the zone, its last target can’t ' +
      'be removed (409). `If-Match` is compared with the version of the zone.',
    status: 204,
    problems: ['conflict'],
    run: (ctx, { params }) => deleteTarget(ctx, params.id!, params.target!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/refresh',
    guard: write,
    action: 'dns.zone.refresh',
    operationId: 'refreshZone',
    summary: 'Refresh a zone',
    description:
      'Reads the zone from each provider that it is synced to, and updates the sync state of its records. No changes are applied. Returns an action, which ' +
      'fails with `provider_failed` if a target could not be read. A result that is empty, or has fewer than half of the previous record sets, ' +
      'is rejected unless `force` is set. While another action is working on the zone, the response is 409 `resource_locked`. Limited to 10 requests a minute per zone.',
    body: RefreshInput,
    status: 202,
    collection: '/v1/actions',
    response: Action,
    problems: ['resource_locked', 'rate_limited'],
    run: (ctx, { params, body }) => refreshZone(ctx, params.id!, body),
  }),
])
