import { Type, type Static } from '@sinclair/typebox'
import { editable, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { providerKinds } from '../providers'
import { providerFailures } from '../providers/provider'
import { providerStates } from './tables'
import { builtin } from '../zone-shapes'

const kinds = providerKinds.map(one => one.kind)
const name = Line({ minLength: 1, maxLength: 100, description: 'Name, the only one of its kind in the workspace.' })
const settings = (description: string) => Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), { description })

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
    id: Type.String({ description: 'Identifier; `builtin` is the name server inside the hub.' }),
    kind: Words([builtin, ...kinds], { description: 'The protocol, as listed at /v1/dns/provider-kinds.' }),
    name: Type.String({ description: 'Name.' }),
    settings: settings('What its kind wants to be told, but for secrets.'),
    secrets_set: Type.Array(Type.String(), {
      description: 'Names of the secret settings that are kept. Values are shown nowhere.',
    }),
    state: Words(providerStates, { description: 'How the last check went; `unknown` until there was one with these settings.' }),
    detail: Nullable(Type.String(), { description: 'What the last check that succeeded found there.' }),
    warnings: Type.Array(Type.String(), { description: 'What will not work though it can be reached.' }),
    last_checked_at: MaybeInstant({ description: 'When it was last checked.' }),
    last_ok_at: MaybeInstant({ description: 'When a check last succeeded.' }),
    last_error: Nullable(
      Shape({
        failure: Words(providerFailures, { description: 'What went wrong, in one word.' }),
        detail: Type.String({ description: 'What went wrong, for people.' }),
      }),
      { description: 'Why the last check failed; null if it did not.' },
    ),
    ...editable,
  },
  { $id: 'DnsProvider', description: 'Where DNS zones are kept.', examples: [example] },
)
export const DnsProviderList = ListOf(DnsProvider)

export const DnsProviderInput = Shape(
  {
    kind: Words(kinds, { description: 'The protocol, as listed at /v1/dns/provider-kinds.' }),
    name,
    settings: settings('What its kind wants to be told, secrets among it.'),
  },
  {
    $id: 'DnsProviderInput',
    description: 'A provider to make.',
    examples: [
      { kind: 'powerdns', name: example.name, settings: { url: 'https://pdns.example.net:8081', api_key: 'changeme-9f2c41' } },
    ],
  },
)

export const DnsProviderCheckInput = Shape(
  { kind: DnsProviderInput.properties.kind, settings: DnsProviderInput.properties.settings },
  {
    $id: 'DnsProviderCheckInput',
    description: 'Settings to try out.',
    examples: [{ kind: 'powerdns', settings: { url: 'https://pdns.example.net:8081', api_key: 'changeme-9f2c41' } }],
  },
)

export const DnsProviderChecked = Shape(
  {
    state: Words(['ok', 'failing'], { description: 'Whether it can be reached with these settings, and lets one in.' }),
    detail: Nullable(Type.String(), { description: 'What is there; null unless it is `ok`.' }),
    warnings: Type.Array(Type.String(), { description: 'What will not work though it can be reached.' }),
    error: DnsProvider.properties.last_error,
  },
  {
    $id: 'DnsProviderChecked',
    description: 'What came of trying settings out.',
    examples: [{ state: 'ok', detail: 'PowerDNS 4.9.3', warnings: [], error: null }],
  },
)

export const DnsProviderPatch = Shape(
  {
    name: Type.Optional(name),
    settings: Type.Optional(
      settings(
        'Settings to change, merged into those there are. Secrets that are not named stay; null removes one that may be absent.',
      ),
    ),
  },
  {
    $id: 'DnsProviderPatch',
    description: 'What of a provider is to change.',
    examples: [{ settings: { api_key: 'changeme-07b1e5' } }],
  },
)

export const DnsProviderQuery = Shape({
  kind: Type.Optional(Words([builtin, ...kinds], { description: 'Only those of this kind.' })),
  state: Type.Optional(Words(providerStates, { description: 'Only those in this state.' })),
})

export const DnsProviderKind = Shape(
  {
    kind: Type.String({ description: 'Its name, as `kind` of a provider.' }),
    title: Type.String({ description: 'For people.' }),
    settings: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of `settings`.' }),
    secrets: Type.Array(Type.String(), { description: 'Members of `settings` that are sealed and never shown.' }),
    destination: Type.Array(Type.String(), {
      description: 'Members of `settings` that say where secrets go: with another value of one, secrets have to be given again.',
    }),
    capabilities: Shape(
      {
        unit: Words(['rrset', 'record', 'zone'], { description: 'What one change replaces.' }),
        atomic: Words(['zone', 'batch', 'none'], { description: 'How much of a plan happens as one, or not at all.' }),
        compare_and_swap: Words(['prerequisite', 'exact', 'serial', 'none'], {
          description: 'How the provider is kept from overwriting what changed since it was read.',
        }),
        unsupported_types: Type.Array(Type.String(), { description: 'Record types that cannot be kept there.' }),
        min_ttl: Type.Integer({ description: 'Seconds; a lower TTL becomes this one there.' }),
        max_ttl: Type.Integer({ description: 'Seconds; a higher TTL becomes this one there.' }),
        alias: Words(['native', 'expand', 'none'], {
          description: 'Whether ALIAS is kept as it is, as the addresses it leads to, or not at all.',
        }),
        apex_ns: Words(['rw', 'ro', 'hidden'], {
          description: 'Whether the NS at the apex can be edited, only read, or are not shown.',
        }),
        keeps_txt_strings: Type.Boolean({ description: 'Whether the strings of a TXT stay cut as they are.' }),
      },
      { description: 'What it can do whatever the settings.' },
    ),
  },
  {
    $id: 'DnsProviderKind',
    description: 'A protocol by which zones are kept elsewhere.',
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
          keeps_txt_strings: true,
        },
      },
    ],
  },
)
export const DnsProviderKindList = ListOf(DnsProviderKind)

export const DnsProviderZone = Shape(
  {
    name: Type.String({ description: 'Name in A-labels, without the dot at the end.' }),
    unicode_name: Type.String({ description: 'Name as people read it.' }),
    ref: Nullable(Type.String(), { description: 'The provider’s own id of it; null where it knows zones by name.' }),
    zone_id: Nullable(Type.String(), { description: 'The zone of this workspace with that name; null when there is none.' }),
  },
  {
    $id: 'DnsProviderZone',
    description: 'A zone at a provider.',
    examples: [
      { name: 'example.com', unicode_name: 'example.com', ref: 'example.com.', zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn' },
    ],
  },
)
export const DnsProviderZoneList = ListOf(DnsProviderZone)

export const DnsProviderZoneQuery = Shape({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Items a page.' })),
  cursor: Type.Optional(Type.String({ maxLength: 1000, description: 'Where to go on: `next_cursor` of the page before.' })),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Only those whose name holds this text.' })),
})

export type DnsProviderView = Static<typeof DnsProvider>
export type DnsProviderInput = Static<typeof DnsProviderInput>
export type DnsProviderCheckInput = Static<typeof DnsProviderCheckInput>
export type DnsProviderChecked = Static<typeof DnsProviderChecked>
export type DnsProviderPatch = Static<typeof DnsProviderPatch>
export type DnsProviderKindView = Static<typeof DnsProviderKind>
export type DnsProviderZoneView = Static<typeof DnsProviderZone>
