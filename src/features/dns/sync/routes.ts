import { area, route } from '../../../access/route'
import { listQuery } from '../../../core/list'
import { Action } from '../../actions/shapes'
import { applyPlan } from './apply-plan'
import { planZone } from './plan-zone'
import { getPlan, listPlans, planListing } from './plans'
import { adoptDrift, driftOf } from './drift'
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
  ZoneAdopted,
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
    operationId: 'planZone',
    summary: 'Plan changes of a zone',
    description:
      'Works out what edits would do, and why they would not be made unasked; nothing is done. The edits are held to the rules of DNS ' +
      'as if they were made. A plan can be applied for 15 minutes, while the zone is as it was.',
    body: PlanInput,
    status: 201,
    addsTo: '/v1/dns/plans',
    answer: Plan,
    problems: ['plan_limit_reached'],
    run: (ctx, { params, body }) => planZone(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/plans',
    guard: read,
    operationId: 'listZonePlans',
    summary: 'List the plans of a zone',
    description: 'Plans of a zone, kept for a week after their end.',
    query: listQuery(planListing),
    answer: PlanList,
    run: (ctx, { params, query }) => listPlans(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/plans/:id',
    guard: read,
    narrowed: 'verb',
    operationId: 'getDnsPlan',
    summary: 'Read a plan',
    description: 'What a plan would do, and what holds it back.',
    answer: Plan,
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
      'Carries a plan out as it was shown. A plan that is held back is refused with 409 `plan_blocked` and its reasons: each is ' +
      'overridden by its code in `allow`, with a note, and the audit log has both. The answer is an action.',
    body: PlanApplyInput,
    status: 202,
    addsTo: '/v1/actions',
    answer: Action,
    problems: ['plan_blocked', 'plan_stale', 'plan_expired', 'conflict', 'resource_locked', 'plan_limit_reached'],
    run: (ctx, { params, body }) => applyPlan(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/targets',
    guard: read,
    operationId: 'listZoneTargets',
    summary: 'List the providers of a zone',
    description: 'Providers that a zone is kept at beside the hub, all on one page.',
    answer: TargetList,
    run: (ctx, { params }) => listTargets(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/targets',
    guard: write,
    action: 'dns.target.create',
    operationId: 'createZoneTarget',
    summary: 'Keep a zone at one more provider',
    description:
      'Adds a provider to those that a zone is kept at. It is read at once: what is there stays as it is, is told as `unmanaged` or ' +
      '`conflict`, and can be adopted; what is here alone is brought there. Where the provider has no such zone and can be asked to ' +
      'make it, it is made.',
    body: TargetInput,
    status: 201,
    nowhere: true,
    answer: ZoneTarget,
    problems: ['already_exists', 'conflict'],
    run: (ctx, { params, body }) => createTarget(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dns/zones/:id/targets/:target',
    guard: write,
    action: 'dns.target.delete',
    operationId: 'deleteZoneTarget',
    summary: 'Keep a zone at a provider no longer',
    description:
      'What the provider has of the zone stays there, and is not looked at any more. The last provider of a zone that the hub does not ' +
      'serve is kept.',
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
    summary: 'Read a zone at its providers',
    description:
      'Reads each provider now, and tells how each record stands there; nothing is brought there. The answer is an action, which fails ' +
      'with `provider_failed` where one could not be read. A reading that is empty, or less than half of the one before, is not ' +
      'believed unless `believe` says so. Ten a minute and zone.',
    body: RefreshInput,
    status: 202,
    addsTo: '/v1/actions',
    answer: Action,
    problems: ['resource_locked', 'rate_limited'],
    run: (ctx, { params, body }) => refreshZone(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/drift',
    guard: read,
    operationId: 'getZoneDrift',
    summary: 'Show what differs at the providers',
    description: 'Each name and type that is not at a provider as it is to be, as of the last readings.',
    answer: ZoneDrift,
    run: (ctx, { params }) => driftOf(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/adopt',
    guard: write,
    action: 'dns.zone.adopt',
    operationId: 'adoptZoneDrift',
    summary: 'Take over what is at a provider',
    description:
      'Makes the zone here as it is at a provider, for the rrsets that are named, or for all that others changed, added or took away. ' +
      'The way back is a plan with `enforce`.',
    body: AdoptInput,
    answer: ZoneAdopted,
    problems: ['conflict', 'plan_limit_reached'],
    run: (ctx, { params, body }) => adoptDrift(ctx, params.id!, body),
  }),
])
