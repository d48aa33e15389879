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
      'Lists all record sets of a zone that are out of sync at a provider: drift (changed at the provider), conflicts, changes in Bailiwick that are ' +
      'not applied yet or were rejected, and records that exist only at the provider or are not supported there. The `state` of each shows which. ' +
      'Providers are not contacted; the list is based on the records that were last read.',
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
      'Copies record sets from a provider (a sync target of the zone) into the zone as they were last read there: the given `rrsets`, or `all` that ' +
      'are `drifted`, in `conflict`, or `unmanaged`. Record sets that were deleted there are deleted from the zone. To revert these changes instead, ' +
      'create a plan with `enforce`. A request can change at most 10,000 records (422). A zone without sync targets, or without the given one, returns 409.',
    body: AdoptInput,
    response: ZoneAdoptResult,
    problems: ['conflict', 'plan_limit_reached', 'precondition_failed', 'record_driven'],
    run: (ctx, { params, body }) => adoptDrift(ctx, params.id!, body),
  }),
])
