import { area, route } from '../../access/route'
import { listLimits } from './limits'
import { LimitList } from './shapes'

export const limitRoutes = area('limits', 'Workspaces', [
  route({
    method: 'GET',
    path: '/v1/limits',
    guard: 'account.read',
    operationId: 'listLimits',
    summary: 'List limits',
    description:
      'Every limit of the workspace on one page: what its plan and overrides allow, how much is in use, what is left. ' +
      'Limits of a token are those of the one that asks. Each hub counts rates of requests for itself.',
    answer: LimitList,
    run: ctx => listLimits(ctx),
  }),
])
