import { area, route } from '../../api/route'
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
      'Lists all limits of the workspace with their maximum, current usage, and remaining amount. For limits per token, ' +
      '`used` and `remaining` are those of the token that sends the request. Each hub counts request rates separately.',
    response: LimitList,
    run: ctx => listLimits(ctx),
  }),
])
