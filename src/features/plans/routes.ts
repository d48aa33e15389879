import { crud } from '../../api/crud'
import { area } from '../../api/route'
import { createPlan, deletePlan, getPlan, listPlans, updatePlan } from './plans'
import { Plan, PlanInput, PlanList, PlanPatch } from './shapes'

// Shares its type with the plans for changes of DNS zones, which are registered.
export const planRoutes = area(
  'plans',
  'Workspaces',
  crud({
    type: 'plan',
    path: '/plans',
    action: 'account.plan',
    response: Plan,
    reads: { guard: 'account.read', restrictedTokens: 'all' },
    writes: { guard: 'operator' },
    list: { description: 'Lists all plans with their limits.', response: PlanList, run: listPlans },
    create: {
      description:
        'Creates a plan. Omitted limits are unlimited. If the plan is set as the default, it replaces the previous default plan.',
      body: PlanInput,
      problems: ['already_exists'],
      run: createPlan,
    },
    get: { description: 'Returns a plan with its limits.', run: getPlan },
    update: {
      description:
        'Updates a plan (JSON merge patch, RFC 7396); null removes a limit. Takes effect immediately for every workspace on the ' +
        'plan. If a limit is lowered, existing resources over the limit are kept, but no new ones can be created.',
      body: PlanPatch,
      run: updatePlan,
    },
    delete: {
      description: 'Deletes a plan. The default plan and plans in use can’t be deleted (409).',
      problems: ['conflict'],
      run: deletePlan,
    },
  }),
)
