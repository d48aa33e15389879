import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { Zone, ZoneInput, ZoneList, ZonePatch } from './shapes'
import { createZone, deleteZone, getZone, listZones, updateZone, zoneListing } from './zones'

const read = 'dns.read'
const write = 'dns.write'

export const dnsZoneRoutes = area('dns-zones', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones',
    guard: read,
    operationId: 'listZones',
    summary: 'List zones',
    description: 'Lists the DNS zones of the workspace.',
    query: listQuery(zoneListing),
    response: ZoneList,
    run: (ctx, { query }) => listZones(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones',
    guard: write,
    action: 'dns.zone.create',
    operationId: 'createZone',
    summary: 'Create a zone',
    description:
      'Creates a zone with an SOA and NS records. By default the built-in name server serves it. If the default name servers ' +
      'are inside the zone, an address record with the hub’s own address is added as glue. Zone names are unique across the ' +
      'installation.',
    body: ZoneInput,
    status: 201,
    response: Zone,
    problems: ['plan_limit_reached', 'already_exists'],
    run: (ctx, { body }) => createZone(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id',
    guard: read,
    operationId: 'getZone',
    summary: 'Get a zone',
    description: 'Returns a zone with its serial, SOA fields, and sync status.',
    response: Zone,
    run: (ctx, { params }) => getZone(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/dns/zones/:id',
    guard: write,
    action: 'dns.zone.update',
    operationId: 'updateZone',
    summary: 'Update a zone',
    description:
      'Updates the given fields (JSON merge patch, RFC 7396). A `paused` zone keeps its records, but is neither served nor ' +
      'synced.',
    body: ZonePatch,
    response: Zone,
    run: (ctx, { params, body }) => updateZone(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dns/zones/:id',
    guard: write,
    action: 'dns.zone.delete',
    operationId: 'deleteZone',
    summary: 'Delete a zone',
    description: 'Deletes a zone with all its records. The name server stops answering for it; copies at providers are kept.',
    status: 204,
    run: (ctx, { params }) => deleteZone(ctx, params.id!),
  }),
])
