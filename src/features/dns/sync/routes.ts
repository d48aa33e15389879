import { area, route } from '../../../access/route'
import { listQuery } from '../../../core/list'
import { Action } from '../../actions/shapes'
import { applyPlan } from './apply-plan'
import { planZone } from './plan-zone'
import { getPlan, listPlans, planListing } from './plans'
import { Plan, PlanApplyInput, PlanInput, PlanList } from './shapes'

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
])
