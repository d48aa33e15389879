import { DeprecatedPartList, listDeprecations } from './deprecated-use'
import { area, route } from './route'

export const deprecationRoutes = area('deprecations', 'Deprecations', [
  route({
    method: 'GET',
    path: '/v1/deprecations',
    guard: 'account.read',
    operationId: 'listDeprecations',
    summary: 'List deprecations',
    description:
      'What of the API goes away, on one page, with the requests of the workspace’s tokens that used it. Empty while nothing does.',
    answer: DeprecatedPartList,
    run: ctx => listDeprecations(ctx),
  }),
])
