import { crud } from '../../../api/crud'
import { area, route } from '../../../api/route'
import {
  checkProvider,
  createProvider,
  deleteProvider,
  getProvider,
  listProviders,
  testProviderSettings,
  updateProvider,
} from './accounts'
import { listProviderKinds } from './kinds'
import {
  DnsProvider,
  DnsProviderCheckResult,
  DnsProviderCheckInput,
  DnsProviderInput,
  DnsProviderKindInfoList,
  DnsProviderList,
  DnsProviderPatch,
  DnsProviderQuery,
  DnsProviderZoneList,
  DnsProviderZoneQuery,
} from './shapes'
import { listProviderZones } from './zones'

const read = 'dns.read'
const write = 'dns.write'

export const dnsProviderRoutes = area('dns-providers', 'DNS', [
  route({
    method: 'GET',
    path: '/v1/dns/provider-kinds',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listDnsProviderKinds',
    summary: 'List DNS provider kinds',
    description: 'Lists the supported kinds of external providers, with their settings and capabilities, on one page.',
    response: DnsProviderKindInfoList,
    run: async () => listProviderKinds(),
  }),
  ...crud({
    type: 'dns_provider',
    response: DnsProvider,
    list: {
      description:
        'Lists all providers on one page: the built-in name server first, then the providers of the workspace by name.',
      query: DnsProviderQuery,
      response: DnsProviderList,
      run: listProviders,
    },
    create: {
      description:
        'Adds a provider that can host your zones. The provider is checked right after the response; until then its `state` is `unknown`. Secrets ' +
        'are part of `settings`, and are never returned. A workspace can have up to 50 providers (409).',
      body: DnsProviderInput,
      problems: ['conflict', 'already_exists'],
      run: createProvider,
    },
    get: {
      description: 'Returns a provider with its settings, without secrets, and the result of its last health check.',
      run: getProvider,
    },
    update: {
      description:
        'Updates the given fields, including those within `settings` (JSON merge patch, RFC 7396). Omitted secrets are kept, but must be sent again if a ' +
        'change would send them to another server. If the settings change, the provider is checked right after the response; until then its `state` is `unknown`.',
      body: DnsProviderPatch,
      problems: ['conflict', 'already_exists'],
      run: updateProvider,
    },
    delete: {
      description:
        'Deletes a provider and its secrets. Zones at the provider are not changed. Providers that zones are synced to can’t be deleted (409).',
      problems: ['conflict'],
      run: deleteProvider,
    },
    verbs: {
      check: {
        description:
          'Checks whether the provider can be reached, and returns the result in `state`, `detail`, and `last_error`. Nothing changes at ' +
          'the provider. Limited to 5 requests a minute per provider. Providers are also checked automatically every 10 minutes.',
        problems: ['conflict', 'rate_limited'],
        run: checkProvider,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/dns/provider-checks',
    guard: write,
    action: 'dns.provider.validate',
    operationId: 'testDnsProviderSettings',
    summary: 'Test DNS provider settings',
    description:
      'Checks whether a provider can be reached with these settings, before you create it. A failed check is returned as a result, not ' +
      'as an error. Nothing is stored, and nothing changes at the provider. Limited to 10 requests a minute per workspace.',
    body: DnsProviderCheckInput,
    response: DnsProviderCheckResult,
    problems: ['rate_limited'],
    run: (ctx, { body }) => testProviderSettings(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/providers/:id/zones',
    guard: read,
    operationId: 'listDnsProviderZones',
    summary: 'List zones at a DNS provider',
    description:
      'Lists the zones that currently exist at the provider, by name, with the ID of the matching zone of the workspace. Each page queries the ' +
      'provider. Limited to 30 requests a minute per provider.',
    query: DnsProviderZoneQuery,
    response: DnsProviderZoneList,
    problems: ['invalid_cursor', 'conflict', 'provider_failed', 'rate_limited'],
    run: (ctx, { params, query }) => listProviderZones(ctx, params.id!, query),
  }),
])
