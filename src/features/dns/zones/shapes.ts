import { type Static, Type } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { TTL_MAX } from '../../../dns/ttl'
import { editable, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { Blocked } from '../plans/op-shapes'
import { ZoneSync } from '../targets/shapes'

export { syncStates } from '../sync/three-way'

/** Provider id of the built-in name server. */
export const builtin = 'builtin'

const seconds = (description: string) => Type.Integer({ minimum: 0, maximum: TTL_MAX, description })
const DnsName = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description })

const soa = {
  mname: DnsName('Primary name server, with a trailing dot.'),
  rname: DnsName('Mailbox of the zone administrator, as a domain name or an email address.'),
  ttl: seconds('TTL of the SOA record itself, in seconds.'),
  refresh: seconds('How often secondaries check for changes, in seconds.'),
  retry: seconds('How long secondaries wait before retrying a failed check, in seconds.'),
  expire: seconds('How long secondaries keep answering when they can’t reach the primary, in seconds.'),
  minimum: seconds('How long resolvers may cache that a name or type doesn’t exist, in seconds (RFC 2308).'),
}

export const soaSchema = Shape(soa, { description: 'The SOA record, without its serial.' })

export const zoneStatuses = ['active', 'paused'] as const
const status = Words(zoneStatuses, { description: '`paused`: the zone keeps its records, but is neither served nor synced.' })
export const default_ttl = seconds('TTL in seconds for records created without one.')

const percent = (what: string, small: string) =>
  Nullable(Type.Integer({ minimum: 0, maximum: 100 }), {
    description:
      `Percentage of the record sets that one plan may ${what} without being blocked. Null for the default of 30. Applies from ` +
      `10 record sets on; ${small}`,
  })
const update_limit_percent = percent('update', 'in a smaller zone, any number of record sets can be updated.')
const delete_limit_percent = percent(
  'delete',
  'in a smaller zone, deleting at least 3 record sets that are at least half of the zone is blocked.',
)

const ignore_rules = Type.Array(
  Shape({
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]+$',
      'x-rule': 'must contain only visible ASCII characters.',
      description: 'Name relative to the zone. `*` matches any text.',
    }),
    types: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z0-9]{1,20}$', 'x-rule': 'must be a record type in uppercase, such as TXT.' }), {
        minItems: 1,
        maxItems: 50,
        description: 'Only these record types. Default: all.',
      }),
    ),
  }),
  { maxItems: 50, description: 'Record sets to ignore if they exist only at a provider.' },
)
/** How a zone is synced to its providers. */
export const policyMembers = members({
  apply: {
    schema: Words(['auto', 'manual'], {
      description:
        '`auto`: changes are synced to the providers immediately, unless a safety check blocks them. `manual`: changes wait until a ' +
        'plan is applied.',
    }),
    default: 'auto',
  },
  drift_policy: {
    schema: Words(['report', 'enforce', 'adopt'], {
      description:
        'What to do with changes made at a provider outside Bailiwick (drift). `report`: only report them. `enforce`: revert them, ' +
        'until they were reverted 3 times within 10 minutes. `adopt`: copy them into the zone. Conflicts are only reported.',
    }),
    default: 'report',
  },
  unmanaged: {
    schema: Words(['keep', 'delete'], {
      description: 'What to do with record sets that exist only at a provider: `keep` or `delete` them.',
    }),
    default: 'keep',
  },
  ignore_rules: {
    schema: Nullable(ignore_rules, {
      description: `${ignore_rules.description} Null for the default, a rule for \`_acme-challenge*\`.`,
    }),
  },
})
export type IgnoreRule = Static<typeof ignore_rules>[number]

const limits = {
  update_limit_percent: Type.Optional(update_limit_percent),
  delete_limit_percent: Type.Optional(delete_limit_percent),
}

export const zoneExample = {
  id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
  name: 'example.com',
  unicode_name: 'example.com',
  status: 'active',
  provider_id: builtin,
  nameservers: ['ns1.example.com'],
  serial: 7,
  default_ttl: 3600,
  soa: {
    mname: 'ns1.example.com.',
    rname: 'hostmaster.example.com.',
    ttl: 3600,
    refresh: 3600,
    retry: 600,
    expire: 1_209_600,
    minimum: 300,
  },
  record_count: 12,
  update_limit_percent: null,
  delete_limit_percent: null,
  served: true,
  apply: 'auto',
  drift_policy: 'report',
  unmanaged: 'keep',
  ignore_rules: [{ name: '_acme-challenge*' }],
  synced: true,
  sync: { state: 'synced', targets: [] },
  blocked: null,
  version: 7,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:05:00.000Z',
}

export const Zone = Shape(
  {
    id: Type.String({ description: 'ID of the zone.' }),
    name: Type.String({ description: 'Name in A-labels (`xn--…`), without a trailing dot.' }),
    unicode_name: Type.String({ description: 'Name in Unicode.' }),
    status,
    provider_id: Type.String({
      description:
        'ID of the main provider: the one the zone was created at, or another one if that was removed from the sync targets. `builtin` is the ' +
        'built-in name server. For all providers of the zone, see `sync`.',
    }),
    nameservers: Type.Array(Type.String(), { description: 'Name servers in the NS records at the apex.' }),
    serial: Type.Integer({
      minimum: 0,
      maximum: 0xffff_ffff,
      description:
        'SOA serial (RFC 1982). Increases with every change of the records or settings, but not of metadata such as comments and tags.',
    }),
    default_ttl,
    soa: soaSchema,
    record_count: Type.Integer({ minimum: 0, description: 'Number of records, without the SOA.' }),
    update_limit_percent,
    delete_limit_percent,
    served: Type.Boolean({ description: 'Whether the built-in name server answers for the zone.' }),
    ...viewMembers(policyMembers),
    ignore_rules,
    synced: Type.Boolean({ description: 'Whether every provider matched the zone when last read.' }),
    sync: ZoneSync,
    blocked: Blocked,
    ...editable,
    version: Type.Integer({
      minimum: 1,
      description: 'Increases with each change of the zone or its records. Used in the ETag.',
    }),
  },
  { $id: 'Zone', description: 'A DNS zone.', examples: [zoneExample] },
)
export const ZoneList = ListOf(Zone)

/** Any subset of the SOA fields. */
export const SoaInput = Type.Partial(Type.Object(soa), { additionalProperties: false, description: 'SOA fields to set.' })

export const ZoneInput = Shape(
  {
    name: DnsName(
      'Name, in Unicode or A-labels. Needs at least two labels, such as `example.com`; only the operator can create top-level zones.',
    ),
    provider_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'ID of the provider that hosts the zone. Default: `builtin`, the built-in name server. Records that already exist at the ' +
          'provider are not changed.',
      }),
    ),
    nameservers: Type.Optional(
      Type.Array(DnsName('Hostname of a name server, with or without a trailing dot.'), {
        minItems: 1,
        maxItems: 13,
        description:
          'Name servers for the NS records. Default: those in the hub’s setting BAILIWICK_DNS_NAMESERVERS; if it is not set, `ns1` of the zone, or ' +
          'no NS records if a provider hosts the zone.',
      }),
    ),
    default_ttl: Type.Optional({ ...default_ttl, description: `${default_ttl.description} Default: 3600.` }),
    soa: Type.Optional({
      ...SoaInput,
      description:
        'SOA fields to set. Defaults: the first name server, `hostmaster` of the zone, and 3600 for `ttl` and `refresh`, 600 for `retry`, ' +
        '1209600 for `expire`, and 300 for `minimum`.',
    }),
    ...limits,
    ...inputMembers(policyMembers),
  },
  { $id: 'ZoneInput', description: 'A zone to create.', examples: [{ name: 'example.com' }] },
)

export const ZonePatch = Shape(
  {
    status: Type.Optional(status),
    served: Type.Optional(
      Type.Boolean({
        description:
          'Whether the built-in name server answers for the zone, in addition to the providers. Can’t be false for a zone without sync targets.',
      }),
    ),
    default_ttl: Type.Optional(Nullable(default_ttl, { description: `${default_ttl.description} Null resets it to 3600.` })),
    soa: Type.Optional(SoaInput),
    ...limits,
    ...patchMembers(policyMembers),
  },
  { $id: 'ZonePatch', description: 'Fields of a zone to update.', examples: [{ soa: { minimum: 60 } }] },
)

export type ZoneView = Static<typeof Zone>
export type ZoneInput = Static<typeof ZoneInput>
export type ZonePatch = Static<typeof ZonePatch>
