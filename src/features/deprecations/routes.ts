import { area, route } from '../../api/route'
import { listDeprecations } from './list'
import { DeprecatedPartList } from './shapes'

export const deprecationRoutes = area('deprecations', 'Deprecations', [
  route({
    method: 'GET',
    path: '/v1/deprecations',
    guard: 'account.read',
    operationId: 'listDeprecations',
    summary: 'List deprecations',
    description: 'Lists the deprecated parts of the API, and how often tokens of the workspace used them.',
    response: DeprecatedPartList,
    run: ctx => listDeprecations(ctx),
  }),
])
