import { area, route } from '../../api/route'
import { getRegistry, listRegistries } from './registries'
import { Registry, RegistryList, RegistryQuery } from './shapes'

const read = 'domains.read'

export const registryRoutes = area('registries', 'Domains', [
  route({
    method: 'GET',
    path: '/v1/registries',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listRegistries',
    summary: 'List registries',
    description:
      'Lists the top-level domains whose registry can be queried, in alphabetical order, with the state of their servers. Facts about names are public, and are kept once for the whole ' +
      'installation.',
    query: RegistryQuery,
    response: RegistryList,
    run: (ctx, { query }) => listRegistries(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/registries/:tld',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'getRegistry',
    summary: 'Get a registry',
    description: 'Returns where facts about names below a top-level domain come from, the pace of the queries, and its rules.',
    response: Registry,
    isUnversioned: true,
    run: (ctx, { params }) => getRegistry(ctx, params.tld!),
  }),
])
