import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { TTL_MAX } from '../../core/dns/ttl'
import { editable, ListOf, Nullable, Shape, Words } from '../../core/shapes'
import { Blocked, ZoneSync } from './sync/sync-shapes'
import { applyModes, driftPolicies, unmanagedPolicies, zoneStatuses } from './tables'
import { lintRules, type LintRule } from './zone-lint'

/** The provider that is the hub itself. */
export const builtin = 'builtin'

const seconds = (description: string, maximum = TTL_MAX) => Type.Integer({ minimum: 0, maximum, description })
const DnsName = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description })

const soa = {
  mname: DnsName('The name server that changes are made on, with the dot at the end.'),
  rname: DnsName('Whom to write to: a mailbox as a name, or as an e-mail address.'),
  ttl: seconds('TTL of the SOA record itself.'),
  refresh: seconds('How often secondaries ask for changes.'),
  retry: seconds('How soon they ask again when that failed.'),
  expire: seconds('How long they answer without having reached the primary.'),
  minimum: seconds('How long it may be remembered that a name or type is not there (RFC 2308).'),
}

export const soaShown = Shape(soa, { description: 'The SOA record but for its serial.' })

const status = Words(zoneStatuses, { description: '`paused`: kept, and not served.' })
export const default_ttl = seconds('TTL in seconds of records that are made without one.')

const percent = (what: string) =>
  Nullable(Type.Integer({ minimum: 0, maximum: 100 }), {
    description: `Percent of its rrsets that one plan ${what} without being held back; null is 30.`,
  })
const update_limit_percent = percent('changes')
const delete_limit_percent = percent('removes')

const apply = Words(applyModes, {
  description: '`auto`: what changes here is brought to the providers at once. `manual`: by plans that are applied.',
})
const drift_policy = Words(driftPolicies, {
  description: 'What becomes of changes that others make at a provider: they are told, put back, or taken over.',
})
const unmanaged = Words(unmanagedPolicies, {
  description: 'What becomes of rrsets that are at a provider alone: they are left, or removed.',
})
const ignore_rules = Type.Array(
  Shape({
    name: Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: '^[\\x21-\\x7e]+$',
      'x-rule': 'must be of visible ASCII characters.',
      description: 'Name within the zone, `*` standing for any text.',
    }),
    types: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z0-9]{1,20}$', 'x-rule': 'must be a record type.' }), {
        minItems: 1,
        maxItems: 50,
        description: 'Only these types.',
      }),
    ),
  }),
  { maxItems: 50, description: 'Which rrsets that are at a provider alone are left alone without a word.' },
)
const policies = {
  update_limit_percent: Type.Optional(update_limit_percent),
  delete_limit_percent: Type.Optional(delete_limit_percent),
  apply: Type.Optional(apply),
  drift_policy: Type.Optional(drift_policy),
  unmanaged: Type.Optional(unmanaged),
  ignore_rules: Type.Optional(Nullable(ignore_rules, { description: `${ignore_rules.description} Null: the usual ones.` })),
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
    id: Type.String({ description: 'Identifier.' }),
    name: Type.String({ description: 'Name in A-labels, without the dot at the end.' }),
    unicode_name: Type.String({ description: 'Name as people read it.' }),
    status,
    provider_id: Type.String({
      description: 'Where it is kept first: `builtin` is the name server inside the hub. `sync` has all providers.',
    }),
    nameservers: Type.Array(Type.String(), { description: 'What the NS records of its apex name.' }),
    serial: Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'Of the SOA: follows every change (RFC 1982).' }),
    default_ttl,
    soa: soaShown,
    record_count: Type.Integer({ minimum: 0, description: 'Records in it, without the SOA.' }),
    update_limit_percent,
    delete_limit_percent,
    served: Type.Boolean({ description: 'Whether the name server of the hub answers for it.' }),
    apply,
    drift_policy,
    unmanaged,
    ignore_rules,
    synced: Type.Boolean({ description: 'Whether the last reading of each provider is what is kept here.' }),
    sync: ZoneSync,
    blocked: Blocked,
    ...editable,
    version: Type.Integer({ minimum: 1, description: 'Grows with each change of the zone or its records; part of the ETag.' }),
  },
  { $id: 'Zone', description: 'A DNS zone.', examples: [zoneExample] },
)
export const ZoneList = ListOf(Zone)

/** Any members of the SOA. */
export const SoaGiven = Type.Partial(Type.Object(soa), { additionalProperties: false, description: 'Members of the SOA record.' })

export const ZoneInput = Shape(
  {
    name: DnsName('Name, in Unicode or A-labels.'),
    provider_id: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'Where it is kept: a provider of the workspace, or `builtin`, as it is when absent. What a provider has of it already stays as it is there.',
      }),
    ),
    nameservers: Type.Optional(
      Type.Array(DnsName('Name of a name server, with or without the dot at the end.'), {
        minItems: 1,
        maxItems: 13,
        description: 'What its NS records are to name; without, those of the installation.',
      }),
    ),
    default_ttl: Type.Optional(default_ttl),
    soa: Type.Optional(SoaGiven),
    ...policies,
  },
  { $id: 'ZoneInput', description: 'A zone to make.', examples: [{ name: 'example.com' }] },
)

export const ZonePatch = Shape(
  {
    status: Type.Optional(status),
    served: Type.Optional(
      Type.Boolean({
        description:
          'Whether the name server of the hub answers for it too. A zone that is kept at no provider is always served.',
      }),
    ),
    default_ttl: Type.Optional(Nullable(default_ttl)),
    soa: Type.Optional(SoaGiven),
    ...policies,
  },
  { $id: 'ZonePatch', description: 'What of a zone is to change.', examples: [{ soa: { minimum: 60 } }] },
)

export const mostFindings = 1000

export const ZoneLint = Shape(
  {
    zone_id: Type.String({ description: 'The zone.' }),
    serial: Type.Integer({ description: 'As of this serial.' }),
    findings: Type.Array(
      Shape({
        rule: Words(Object.keys(lintRules) as LintRule[], { description: 'The rule. Further ones may be added.' }),
        name: Type.String({ description: 'Name within the zone; the apex is `@`.' }),
        type: Type.String({ description: 'Record type.' }),
        detail: Type.String({ description: 'What is wrong, for people.' }),
        reference: Type.String({ description: 'The document and section that advises against it.' }),
      }),
      { maxItems: mostFindings, description: 'By name.' },
    ),
    truncated: Type.Boolean({ description: `True when there are more than ${mostFindings}.` }),
  },
  {
    $id: 'ZoneLint',
    description: 'What in a zone is allowed and most often a mistake.',
    examples: [
      {
        zone_id: zoneExample.id,
        serial: 7,
        findings: [
          {
            rule: 'one_name_server',
            name: '@',
            type: 'NS',
            detail: 'While the one name server is away, nothing in the zone is found.',
            reference: 'RFC 2182 5',
          },
        ],
        truncated: false,
      },
    ],
  },
)

export type ZoneLint = Static<typeof ZoneLint>
export type ZoneView = Static<typeof Zone>
export type ZoneInput = Static<typeof ZoneInput>
export type ZonePatch = Static<typeof ZonePatch>
