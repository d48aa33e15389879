import { Type, type Static } from '@sinclair/typebox'
import { accountStates } from '../../../adapters/accounts/columns'
import { accountFields, accountInput, accountPatch, checkFields } from '../../../adapters/accounts/shapes'
import { kindFields } from '../../../adapters/kinds'
import { editable, ListOf, SinglePageOf, Nullable, Shape, Words } from '../../../core/shapes'
import { providerKinds } from '../providers'
import { providerFailures } from '../providers/provider'
import { builtin } from '../zones/shapes'

const kinds = providerKinds.map(one => one.kind)
const listedAt = '/v1/dns/provider-kinds'
const input = accountInput(kinds, listedAt)

const example = {
  id: 'prov_01k3z8q4g7e2wv5m9x0c6hbtfn',
  kind: 'powerdns',
  name: 'PowerDNS in Falkenstein',
  settings: { url: 'https://pdns.example.net:8081', server_id: 'localhost', zone_kind: 'Native' },
  secrets_set: ['api_key'],
  state: 'ok',
  detail: 'PowerDNS 4.9.3',
  warnings: [],
  last_checked_at: '2026-11-21T10:05:00.000Z',
  last_ok_at: '2026-11-21T10:05:00.000Z',
  last_error: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

export const DnsProvider = Shape(
  {
    id: Type.String({ description: 'ID of the provider; `builtin` is the built-in name server.' }),
    ...accountFields([builtin, ...kinds], listedAt),
    ...checkFields(providerFailures),
    ...editable,
  },
  { $id: 'DnsProvider', description: 'A DNS server or account that hosts your zones.', examples: [example] },
)
export const DnsProviderList = SinglePageOf(DnsProvider)

export const DnsProviderInput = Shape(input, {
  $id: 'DnsProviderInput',
  description: 'A DNS provider to create.',
  examples: [
    { kind: 'powerdns', name: example.name, settings: { url: 'https://pdns.example.net:8081', api_key: 'changeme-9f2c41' } },
  ],
})

export const DnsProviderCheckInput = Shape(
  { kind: input.kind, settings: input.settings },
  {
    $id: 'DnsProviderCheckInput',
    description: 'Provider settings to test.',
    examples: [{ kind: 'powerdns', settings: { url: 'https://pdns.example.net:8081', api_key: 'changeme-9f2c41' } }],
  },
)

export const DnsProviderCheckResult = Shape(
  {
    state: Words(['ok', 'failing'], { description: 'Whether the provider can be reached and accepts the credentials.' }),
    detail: Nullable(Type.String(), {
      description: 'What the check found, such as the server version; null unless `state` is `ok`.',
    }),
    warnings: DnsProvider.properties.warnings,
    error: { ...DnsProvider.properties.last_error, description: 'Why the check failed; null if it succeeded.' },
  },
  {
    $id: 'DnsProviderCheckResult',
    description: 'Result of testing provider settings.',
    examples: [{ state: 'ok', detail: 'PowerDNS 4.9.3', warnings: [], error: null }],
  },
)

export const DnsProviderPatch = Shape(accountPatch, {
  $id: 'DnsProviderPatch',
  description: 'Fields of a DNS provider to update.',
  examples: [{ settings: { api_key: 'changeme-07b1e5' } }],
})

export const DnsProviderQuery = Shape({
  kind: Type.Optional(Words([builtin, ...kinds], { description: 'Only providers of this kind.' })),
  state: Type.Optional(Words(accountStates, { description: 'Only providers in this state.' })),
})

const DnsProviderKindInfo = Shape(
  {
    ...kindFields,
    capabilities: Shape(
      {
        unit: Words(['rrset', 'record', 'zone'], {
          description: 'What one change replaces at the provider: a record set (`rrset`), a single record, or the whole zone.',
        }),
        atomic: Words(['zone', 'batch', 'none'], {
          description:
            'Which changes succeed or fail together: all changes to a zone, those sent in one request (`batch`), or none.',
        }),
        compare_and_swap: Words(['prerequisite', 'exact', 'serial', 'none'], {
          description:
            'How changes made at the provider since the last read are protected from being overwritten. `prerequisite`: the provider checks the record sets. `exact`: the records are compared right before each change and changed by ID. `serial`: the SOA serial is compared. `none`: not protected.',
        }),
        unsupported_types: Type.Array(Type.String(), { description: 'Record types that the provider does not support.' }),
        min_ttl: Type.Integer({
          description:
            'Minimum TTL in seconds. Lower TTLs are raised to it. At deSEC, each zone has its own minimum, usually this one.',
        }),
        max_ttl: Type.Integer({ description: 'Maximum TTL in seconds. Higher TTLs are lowered to it.' }),
        alias: Words(['native', 'expand', 'none'], {
          description: 'How ALIAS records are handled: natively, expanded to addresses, or not at all.',
        }),
        apex_ns: Words(['rw', 'ro', 'hidden'], {
          description: 'Whether NS records at the apex can be edited (`rw`), only read (`ro`), or are hidden.',
        }),
        preserves_txt_strings: Type.Boolean({
          description: 'Whether the provider preserves how TXT values are split into strings.',
        }),
      },
      { description: 'Capabilities, independent of the settings.' },
    ),
  },
  {
    $id: 'DnsProviderKindInfo',
    description: 'A kind of DNS provider.',
    examples: [
      {
        kind: 'powerdns',
        title: 'PowerDNS Authoritative Server',
        settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        secrets: ['api_key'],
        destination: ['url'],
        capabilities: {
          unit: 'rrset',
          atomic: 'batch',
          compare_and_swap: 'none',
          unsupported_types: [],
          min_ttl: 0,
          max_ttl: 2_147_483_647,
          alias: 'native',
          apex_ns: 'rw',
          preserves_txt_strings: true,
        },
      },
    ],
  },
)
export const DnsProviderKindInfoList = SinglePageOf(DnsProviderKindInfo)

const DnsProviderZone = Shape(
  {
    name: Type.String({ description: 'Name in A-labels (`xn--…`), without a trailing dot.' }),
    unicode_name: Type.String({ description: 'Name in Unicode.' }),
    ref: Nullable(Type.String(), { description: 'ID of the zone at the provider; null if it identifies zones by name.' }),
    zone_id: Nullable(Type.String(), { description: 'ID of the zone with this name in the workspace; null if there is none.' }),
  },
  {
    $id: 'DnsProviderZone',
    description: 'A zone that exists at a provider.',
    examples: [
      { name: 'example.com', unicode_name: 'example.com', ref: 'example.com.', zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn' },
    ],
  },
)
export const DnsProviderZoneList = ListOf(DnsProviderZone)

export const DnsProviderZoneQuery = Shape({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Number of items per page.' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Cursor of the page to return: the `next_cursor` of the previous page. Default: the first page.',
    }),
  ),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Only zones whose name contains this text.' })),
})

export type DnsProviderView = Static<typeof DnsProvider>
export type DnsProviderInput = Static<typeof DnsProviderInput>
export type DnsProviderCheckInput = Static<typeof DnsProviderCheckInput>
export type DnsProviderCheckResult = Static<typeof DnsProviderCheckResult>
export type DnsProviderPatch = Static<typeof DnsProviderPatch>
export type DnsProviderKindView = Static<typeof DnsProviderKindInfo>
export type DnsProviderZoneView = Static<typeof DnsProviderZone>
