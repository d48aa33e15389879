import { area, route } from '../../../access/route'
import { createProvider, deleteProvider, getProvider, listProviders, updateProvider } from './accounts'
import { checkProvider, tryProvider } from './check'
import { listProviderKinds } from './kinds'
import {
  DnsProvider,
  DnsProviderChecked,
  DnsProviderCheckInput,
  DnsProviderInput,
  DnsProviderKindList,
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
    narrowed: 'open',
    operationId: 'listDnsProviderKinds',
    summary: 'List kinds of DNS providers',
    description: 'The protocols by which zones are kept elsewhere, on one page: what each wants to be told, and what it can do.',
    answer: DnsProviderKindList,
    run: async () => listProviderKinds(),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/providers',
    guard: read,
    operationId: 'listDnsProviders',
    summary: 'List DNS providers',
    description:
      'Where zones can be kept, on one page: the built-in name server first, then the providers of the workspace by name.',
    query: DnsProviderQuery,
    answer: DnsProviderList,
    run: (ctx, { query }) => listProviders(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/providers',
    guard: write,
    action: 'dns.provider.create',
    operationId: 'createDnsProvider',
    summary: 'Create a DNS provider',
    description:
      'Tells the hub how to reach a place where zones are kept. Nothing is asked there before the answer: its `state` is `unknown` ' +
      'until the first check, which follows at once. Secrets are members of `settings`, and are never shown again.',
    body: DnsProviderInput,
    status: 201,
    answer: DnsProvider,
    problems: ['conflict', 'already_exists'],
    run: (ctx, { body }) => createProvider(ctx, body),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/provider-checks',
    guard: write,
    action: 'dns.provider.try',
    operationId: 'tryDnsProvider',
    summary: 'Try the settings of a DNS provider',
    description:
      'Asks whether a provider can be reached with these settings, before it is made. That it cannot is no error of this call. Nothing ' +
      'is kept, and nothing changed there. Ten a minute and workspace.',
    body: DnsProviderCheckInput,
    answer: DnsProviderChecked,
    problems: ['rate_limited'],
    run: (ctx, { body }) => tryProvider(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/providers/:id',
    guard: read,
    operationId: 'getDnsProvider',
    summary: 'Read a DNS provider',
    description: 'A provider with its settings but for secrets, and how its last check went.',
    answer: DnsProvider,
    run: (ctx, { params }) => getProvider(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/dns/providers/:id',
    guard: write,
    action: 'dns.provider.update',
    operationId: 'updateDnsProvider',
    summary: 'Edit a DNS provider',
    description:
      'Changes members (JSON merge patch, RFC 7396), also within `settings`. Secrets that are not named stay, but have to be given ' +
      'again where another setting sends them elsewhere. With other settings the provider is checked anew.',
    body: DnsProviderPatch,
    answer: DnsProvider,
    problems: ['conflict', 'already_exists'],
    run: (ctx, { params, body }) => updateProvider(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/dns/providers/:id',
    guard: write,
    action: 'dns.provider.delete',
    operationId: 'deleteDnsProvider',
    summary: 'Delete a DNS provider',
    description: 'Forgets a provider and its secrets. What is kept there stays there.',
    status: 204,
    problems: ['conflict'],
    run: (ctx, { params }) => deleteProvider(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/dns/providers/:id/check',
    guard: write,
    action: 'dns.provider.check',
    operationId: 'checkDnsProvider',
    summary: 'Check a DNS provider',
    description:
      'Asks the provider now whether it can be reached with its settings, and answers with what came of it, under `state`, `detail` ' +
      'and `last_error`. Nothing is changed there. Five a minute and provider; each is also checked by itself every ten minutes.',
    answer: DnsProvider,
    problems: ['conflict', 'rate_limited'],
    run: (ctx, { params }) => checkProvider(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/dns/providers/:id/zones',
    guard: read,
    operationId: 'listDnsProviderZones',
    summary: 'List the zones at a DNS provider',
    description:
      'Zones that the provider has at this moment, by name, and whether the workspace has a zone of that name. Thirty a minute and ' +
      'provider, since each page asks there.',
    query: DnsProviderZoneQuery,
    answer: DnsProviderZoneList,
    problems: ['invalid_cursor', 'conflict', 'provider_failed', 'rate_limited'],
    run: (ctx, { params, query }) => listProviderZones(ctx, params.id!, query),
  }),
])
