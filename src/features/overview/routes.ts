import { area, route } from '../../api/route'
import { overview } from './overview'
import { Overview } from './shapes'

export const overviewRoutes = area('overview', 'Overview', [
  route({
    method: 'GET',
    path: '/v1/overview',
    guard: 'signed_in',
    operationId: 'getOverview',
    summary: 'Get the overview',
    description:
      'Returns active issues, items that expire soon, and recent changes in one response, as shown on the overview page of the dashboard. Sections you ' +
      'don’t have permission to read are null.',
    response: Overview,
    run: ctx => overview(ctx),
  }),
])
