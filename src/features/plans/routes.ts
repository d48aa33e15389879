import { area, route } from '../../api/route'
import { listPlans, getPlan, createPlan, updatePlan, deletePlan } from './plans'
import { PlanList, Plan, PlanInput, PlanPatch } from './shapes'

export const planRoutes = area('plans', 'Workspaces', [
  route({
    method: 'GET',
    path: '/v1/plans',
    guard: 'account.read',
    operationId: 'listPlans',
    summary: 'List plans',
    description: 'Lists all plans with their limits.',
    response: PlanList,
    restrictedTokens: 'all',
    run: ctx => listPlans(ctx),
  }),
  route({
    method: 'GET',
    path: '/v1/plans/:id',
    guard: 'account.read',
    operationId: 'getPlan',
    summary: 'Get a plan',
    description: 'Returns a plan with its limits.',
    response: Plan,
    restrictedTokens: 'all',
    run: (ctx, { params }) => getPlan(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/plans',
    guard: 'operator',
    action: 'account.plan.create',
    operationId: 'createPlan',
    summary: 'Create a plan',
    description: 'Creates a plan. Absent limits are unlimited. If it is made the default, it replaces the previous default plan.',
    body: PlanInput,
    status: 201,
    response: Plan,
    problems: ['already_exists'],
    run: (ctx, { body }) => createPlan(ctx, body),
  }),
  route({
    method: 'PATCH',
    path: '/v1/plans/:id',
    guard: 'operator',
    action: 'account.plan.update',
    operationId: 'updatePlan',
    summary: 'Update a plan',
    description:
      'Updates a plan (JSON merge patch, RFC 7396); null removes a limit. Takes effect immediately for every workspace ' +
      'on the plan. ' +
      'If a limit is lowered, existing resources over the limit are kept, but no new ones can be created.',
    body: PlanPatch,
    response: Plan,
    run: (ctx, { params, body }) => updatePlan(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/plans/:id',
    guard: 'operator',
    action: 'account.plan.delete',
    operationId: 'deletePlan',
    summary: 'Delete a plan',
    description: 'Deletes a plan. The default plan and plans in use cannot be deleted.',
    status: 204,
    problems: ['conflict'],
    run: (ctx, { params }) => deletePlan(ctx, params.id!),
  }),
])
