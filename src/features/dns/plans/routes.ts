import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import { listQuery } from '../../../core/list'
import { Action } from '../../actions/shapes'
import { applyPlan } from './apply-plan'
import { planZone } from './plan-zone'
import { getPlan, listPlans, planListing } from './plans'
import { Plan, PlanApplyInput, PlanInput, PlanList } from './shapes'

const read = 'dns.read'
const write = 'dns.write'

export const dnsPlanRoutes = area('dns-plans', 'DNS', [
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/plan',
    guard: write,
    action: 'dns.plan.create',
    operationId: 'createZonePlan',
    summary: 'Create a DNS plan',
    description:
      'Creates a plan, which shows what your changes would do and which safety checks block them, without applying anything. The changes are validated like real ' +
      'changes. Providers are not contacted: the changes there are based on the records that were last read. You can apply a plan within 15 minutes, as long as neither the zone nor its records at the providers change.',
    body: PlanInput,
    status: 201,
    collection: '/v1/dns/plans',
    response: Plan,
    problems: ['plan_limit_reached', 'precondition_failed', 'record_driven'],
    run: (ctx, { params, body }) => planZone(ctx, params.id!, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/zones/:id/plans',
    guard: read,
    operationId: 'listZonePlans',
    summary: 'List DNS plans of a zone',
    description: 'Lists the plans of a zone. Plans are deleted a week after they expire.',
    query: listQuery(planListing),
    response: PlanList,
    run: (ctx, { params, query }) => listPlans(ctx, params.id!, query),
  }),
  ...crud({
    type: 'plan',
    response: Plan,
    get: {
      summary: 'Get a DNS plan',
      restrictedTokens: 'handler',
      description: 'Returns the changes of a plan, and the safety checks that block it.',
      run: getPlan,
    },
  }),
  route({
    method: 'POST',
    path: '/v1/dns/zones/:id/apply',
    guard: write,
    action: 'dns.plan.apply',
    operationId: 'applyZonePlan',
    summary: 'Apply a DNS plan',
    description:
      'Applies a plan exactly as it was shown. A blocked plan is rejected with 409 `plan_blocked` and its reasons: pass their codes in ' +
      '`allow`, with a note, to override them. Both are stored in the audit log. A plan that was already applied or is older than 15 minutes, ' +
      'or whose zone has changed since, is rejected too (409). While another action is working on the zone, the response is 409 `resource_locked`. The zone in Bailiwick changes immediately; the returned action ' +
      'makes the changes at the sync targets, and fails with `plan_stale` at a target whose records have changed.',
    body: PlanApplyInput,
    status: 202,
    collection: '/v1/actions',
    response: Action,
    problems: [
      'plan_blocked',
      'plan_stale',
      'plan_expired',
      'conflict',
      'resource_locked',
      'plan_limit_reached',
      'record_driven',
    ],
    run: (ctx, { params, body }) => applyPlan(ctx, params.id!, body),
  }),
])
