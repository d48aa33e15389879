import { area, route } from '../../access/route'
import { overview } from './overview'
import { Overview } from './shapes'

export const overviewRoutes = area('overview', 'Overview', [
  route({
    method: 'GET',
    path: '/v1/overview',
    guard: 'signed_in',
    operationId: 'getOverview',
    summary: 'See how the workspace stands',
    description:
      'What is wrong now, what ends soon and what was changed last, in one answer: the first page of the dashboard. A part whose area ' +
      'the caller may not read is null.',
    answer: Overview,
    run: ctx => overview(ctx),
  }),
])
