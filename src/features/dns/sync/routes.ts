import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { Action } from '../../actions/shapes'
import { applyPlan } from './apply-plan'
import { planZone } from './plan-zone'
import { getPlan, listPlans, planListing } from './plans'
import { adoptDrift, getDrift } from './drift'
import { refreshZone } from './refresh'
import {
  AdoptInput,
  Plan,
  PlanApplyInput,
  PlanInput,
  PlanList,
  RefreshInput,
  TargetInput,
  TargetList,
  ZoneAdoptResult,
  ZoneDrift,
} from './shapes'
import { ZoneTarget } from './sync-shapes'
import { createTarget, deleteTarget, listTargets } from './targets'

const read = 'dns.read'
const write = 'dns.write'

export const dnsSyncRoutes = area('dns-sync', 'DNS', [
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/plan',
    guard: write,
    action: 'dns.plan.create',
    operationId: 'createZonePlan',
    summary: 'Create a plan for a zone',
    description:
      'Computes what edits would change, and which reasons block them, without applying anything. The edits are validated like a real ' +
      'change. A plan can be applied for 15 minutes, as long as the zone does not change.',
    body: PlanInput,
    status: 201,
    collection: '/v1/dns/plans',
    response: Plan,
    problems: ['plan_limit_reached'],
    run: (ctx, { params, body }) => planZone(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/plans',
    guard: read,
    operationId: 'listZonePlans',
    summary: 'List plans of a zone',
    description: 'Lists the plans of a zone. Plans are deleted a week after they expire.',
    query: listQuery(planListing),
    response: PlanList,
    run: (ctx, { params, query }) => listPlans(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/plans/:id',
    guard: read,
    restrictedTokens: 'handler',
    operationId: 'getDnsPlan',
    summary: 'Get a plan',
    description: 'Returns the changes of a plan, and the reasons that block it.',
    response: Plan,
    run: (ctx, { params }) => getPlan(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/apply',
    guard: write,
    action: 'dns.plan.apply',
    operationId: 'applyZonePlan',
    summary: 'Apply a plan',
    description:
      'Applies a plan exactly as it was shown. A blocked plan is rejected with 409 `plan_blocked` and its reasons: pass their codes in ' +
      '`allow`, with a note, to override them. Both are stored in the audit log. Returns an action.',
    body: PlanApplyInput,
    status: 202,
    collection: '/v1/actions',
    response: Action,
    problems: ['plan_blocked', 'plan_stale', 'plan_expired', 'conflict', 'resource_locked', 'plan_limit_reached'],
    run: (ctx, { params, body }) => applyPlan(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/targets',
    guard: read,
    operationId: 'listZoneTargets',
    summary: 'List sync targets of a zone',
    description: 'Lists the providers that a zone is synced to, on one page. The built-in name server is not included.',
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
      'Adds a provider that the zone is synced to. It is read immediately: records that exist only there are kept as `unmanaged` or ' +
      '`conflict` and can be adopted; records that exist only here are created there. If the provider has no such zone and supports ' +
      'creating zones, the zone is created.',
    body: TargetInput,
    status: 201,
    noLocation: true,
    response: ZoneTarget,
    problems: ['already_exists', 'conflict'],
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
      'Stops syncing the zone to a provider. The zone is kept there. If the built-in name server does not serve the zone, its last target cannot ' +
      'be removed.',
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
      'Reads the zone at each target now, and updates the sync state of its records, without applying anything. Returns an action, which ' +
      'fails with `provider_failed` if a target could not be read. A result that is empty, or has fewer than half of the previous record sets, ' +
      'is rejected unless `force` is set. Limited to ten requests a minute per zone.',
    body: RefreshInput,
    status: 202,
    collection: '/v1/actions',
    response: Action,
    problems: ['resource_locked', 'rate_limited'],
    run: (ctx, { params, body }) => refreshZone(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/drift',
    guard: read,
    operationId: 'getZoneDrift',
    summary: 'Get the drift of a zone',
    description: 'Lists the record sets that are out of sync at the targets, as of the last reads.',
    response: ZoneDrift,
    run: (ctx, { params }) => getDrift(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/adopt',
    guard: write,
    action: 'dns.zone.adopt',
    operationId: 'adoptZoneDrift',
    summary: 'Adopt drift',
    description:
      'Updates the zone to match a target, for the given record sets or for all external changes. To revert external changes instead, create a ' +
      'plan with `enforce`.',
    body: AdoptInput,
    response: ZoneAdoptResult,
    problems: ['conflict', 'plan_limit_reached'],
    run: (ctx, { params, body }) => adoptDrift(ctx, params.id!, body),
  }),
])
