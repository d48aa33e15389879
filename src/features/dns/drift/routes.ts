import { area, route } from '../../../api/route'
import { adoptDrift, getDrift } from './drift'
import { AdoptInput, ZoneAdoptResult, ZoneDrift } from './shapes'

const read = 'dns.read'
const write = 'dns.write'

export const dnsDriftRoutes = area('dns-drift', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/drift',
    guard: read,
    operationId: 'getZoneDrift',
    summary: 'Get the drift of a zone',
    description:
      'Lists the record sets that differ between the zone and its sync targets, as found when each target was last read.',
    response: ZoneDrift,
    run: (ctx, { params }) => getDrift(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/adopt',
    guard: write,
    action: 'dns.zone.adopt',
    operationId: 'adoptZoneDrift',
    summary: 'Adopt drift of a zone',
    description:
      'Copies changes made at a sync target into the zone: those to the given `rrsets`, or `all` of them. To revert external changes instead, create a ' +
      'plan with `enforce`.',
    body: AdoptInput,
    response: ZoneAdoptResult,
    problems: ['conflict', 'plan_limit_reached'],
    run: (ctx, { params, body }) => adoptDrift(ctx, params.id!, body),
  }),
])
