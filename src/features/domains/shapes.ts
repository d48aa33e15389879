import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { MoneyShape } from '../../core/money'
import { editable, Instant, ListOf, Nullable, NullableInstant, Prose, Shape, Tags, Words } from '../../core/shapes'
import { delegationStates, domainStatuses, expiryConfidences, expirySources, managements, syncStates } from './statuses'

const NullableDay = (description: string) => Nullable(Type.String({ format: 'date' }), { description })

/** The fields that clients set and that are stored as they are. */
export const domainMembers = members({
  name: {
    schema: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Registrable name, such as `example.com`, in Unicode or A-labels. Responses have A-labels in lowercase.',
    }),
    required: true,
    fixed: true,
  },
  registrar_account_id: {
    schema: Nullable(Type.String({ maxLength: 40 }), {
      description:
        'ID of the registrar account that has the domain; null if none does. Accounts that list their domains set it by themselves. Those with EPP only read domains that name them.',
    }),
    default: null,
  },
  zone_id: {
    schema: Nullable(Type.String({ maxLength: 40 }), {
      description:
        'ID of the DNS zone that the domain should be delegated to. Null for the zone with the same name, if there is one.',
    }),
    default: null,
  },
  expected_nameservers: {
    schema: Nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 2, maxItems: 13, uniqueItems: true }),
      {
        description:
          'Name servers that the domain should be delegated to, instead of those of its zone. Null to compare it with the zone.',
      },
    ),
    default: null,
  },
  notify_days: {
    schema: Nullable(Type.Array(Type.Integer({ minimum: 0, maximum: 365 }), { minItems: 1, maxItems: 20, uniqueItems: true }), {
      description:
        'Days before the end of the registration on which `domain.expiring` is sent. Null for the default: 60, 30, 14, 7, 3, 1, and 0, or 7, 3, 1, and 0 if it renews automatically.',
    }),
    default: null,
  },
  tags: { schema: Tags, default: [] },
  notes: { schema: Prose({ maxLength: 10_000, description: 'Notes.' }), default: '' },
})

const given = NullableDay(
  'End of the registration, for registries that don’t publish it. It counts until a registrar or registry says when it ends. A date from 1985 to 2099; null if it is not known.',
)

const DsRecord = Shape(
  {
    key_tag: Type.Integer({ minimum: 0, maximum: 65_535, description: 'Key tag.' }),
    algorithm: Type.Integer({ minimum: 0, maximum: 255, description: 'Algorithm number.' }),
    digest_type: Type.Integer({ minimum: 0, maximum: 255, description: 'Digest type.' }),
    digest: Type.String({ description: 'Digest in hexadecimal.' }),
  },
  { $id: 'DomainDsRecord', description: 'A DS record in the parent zone.' },
)

const contactId = (role: string) =>
  Nullable(Type.String(), { description: `ID of the ${role} contact; null if it is not known.` })

const example = {
  id: 'dom_01k3zc1d3e5f7g9h1j3k5m7n9p',
  name: 'example.com',
  zone_id: null,
  expected_nameservers: null,
  notify_days: null,
  tags: [],
  notes: '',
  unicode_name: 'example.com',
  tld: 'com',
  management: 'manual' as const,
  registrar_account_id: null,
  registrar: { name: 'Example Registrar', iana_id: 376 },
  status: 'active' as const,
  status_since_at: '2026-11-01T10:00:02.000Z',
  epp_statuses: ['client transfer prohibited'],
  registered_at: '2019-04-02T10:11:12.000Z',
  expires_at: '2027-04-02',
  days_left: 131,
  expiry: {
    source: 'rdap' as const,
    confidence: 'likely' as const,
    registrar_expires_at: null,
    registry_expires_at: '2027-04-02T10:11:12.000Z',
    given_expires_at: null,
    hint: null,
  },
  lifecycle: {
    profile: 'gtld',
    renew_until: '2027-05-17',
    restore_until: '2027-06-16',
    purge_at: '2027-06-21',
    confidence: 'low' as const,
  },
  auto_renew: null,
  locked: true,
  privacy: null,
  nameservers: ['ns1.example.net', 'ns2.example.net'],
  delegation: { state: 'no_zone' as const, zone_id: null, missing: [], extra: [], lame: [], checked_at: null },
  dnssec: { signed: false, ds: [] },
  glue: [],
  contacts: { registrant_id: null, admin_id: null, tech_id: null, billing_id: null },
  renewal_price: null,
  capabilities: [],
  sync: {
    state: 'fresh' as const,
    checked_at: '2026-11-22T09:00:00.000Z',
    next_check_at: '2026-11-23T09:00:00.000Z',
    error: null,
  },
  version: 1,
  created_at: '2026-11-01T10:00:00.000Z',
  updated_at: '2026-11-01T10:00:00.000Z',
}

const nameservers = (description: string) => Type.Array(Type.String(), { description })

export const Domain = Shape(
  {
    id: Type.String({ description: 'ID of the domain.' }),
    ...viewMembers(domainMembers),
    unicode_name: Type.String({ description: 'The name in Unicode.' }),
    tld: Type.String({ description: 'Top-level domain, in A-labels.' }),
    management: Words(managements, {
      description: '`registrar`: a connected registrar account has it. `manual`: otherwise. More values may be added.',
    }),
    registrar: Nullable(
      Shape({
        name: Nullable(Type.String(), { description: 'Name of the registrar; null if it is not known.' }),
        iana_id: Nullable(Type.Integer(), { description: 'Number of the registrar at IANA; null if it is not known.' }),
      }),
      { description: 'The registrar, according to the registry; null if it is not known.' },
    ),
    status: Words(domainStatuses, {
      description: 'Status in the life cycle of a registration. `unknown` until a lookup succeeds. More values may be added.',
    }),
    status_since_at: Instant({ description: 'Since when it has this status.' }),
    epp_statuses: Type.Array(Type.String(), { description: 'Statuses at the registry, in the words of RDAP (RFC 8056).' }),
    registered_at: NullableInstant({ description: 'When it was registered; null if it is not known.' }),
    expires_at: NullableDay('When the registration ends (UTC); null if it is not known.'),
    days_left: Nullable(Type.Integer(), {
      description: 'Days until the registration ends, negative after it. Null if the end is not known.',
    }),
    expiry: Shape(
      {
        source: Nullable(Words(expirySources), { description: 'Where `expires_at` comes from; null if it is not known.' }),
        confidence: Words(expiryConfidences, {
          description:
            '`certain`: the registrar account says so. `likely`: the registry says so. `provisional`: the registry added a year by itself, which was subtracted. `given`: someone entered it. `unknown`: there is no date.',
        }),
        registrar_expires_at: NullableInstant({ description: 'Date of the registrar; null if it is not known.' }),
        registry_expires_at: NullableInstant({ description: 'Date of the registry; null if it is not known.' }),
        given_expires_at: NullableDay('Date that someone entered; null if no one did.'),
        hint: Nullable(Type.String(), {
          description: 'Why the date is missing or uncertain, and what helps. Null if there is nothing to do.',
        }),
      },
      { description: 'Where the date comes from.' },
    ),
    lifecycle: Nullable(
      Shape({
        profile: Type.String({ description: '`gtld`, or the top-level domain whose rules apply.' }),
        renew_until: NullableDay('Until when it can be renewed at the usual price; null if there is no such period.'),
        restore_until: NullableDay('Until when it can be restored; null if there is no such period.'),
        purge_at: NullableDay('When it becomes available to everyone; null if it is not known.'),
        confidence: Words(['low', 'medium', 'high'], { description: 'How certain the dates are.' }),
      }),
      { description: 'What happens after the end. Null if the end or the rules of the top-level domain are not known.' },
    ),
    auto_renew: Nullable(Type.Boolean(), {
      description: 'Whether the registrar renews it automatically; null if it is not known.',
    }),
    locked: Nullable(Type.Boolean(), { description: 'Whether it is locked against transfers; null if it is not known.' }),
    privacy: Nullable(Type.Boolean(), {
      description: 'Whether the registrar hides the contacts; null if it is not known.',
    }),
    nameservers: nameservers('Name servers at the registry.'),
    delegation: Shape(
      {
        state: Words(delegationStates, {
          description:
            '`match`: it is delegated to the expected name servers. `mismatch`: to others. `lame`: a name server does not answer for it. `no_zone`: there is nothing to compare it with. `unknown`: its name servers are not known.',
        }),
        zone_id: Nullable(Type.String(), { description: 'ID of the DNS zone it was compared with; null if there is none.' }),
        missing: nameservers('Expected name servers that it is not delegated to.'),
        extra: nameservers('Name servers that are not expected.'),
        lame: nameservers('Name servers that do not answer for it.'),
        checked_at: NullableInstant({ description: 'When this was checked; null before the first check.' }),
      },
      { description: 'Whether it is delegated to the name servers of its zone.' },
    ),
    dnssec: Shape(
      {
        signed: Type.Boolean({ description: 'Whether the parent zone has DS records for it.' }),
        ds: Type.Array(DsRecord, { description: 'DS records in the parent zone.' }),
      },
      { description: 'DNSSEC at the registry, as far as it is known.' },
    ),
    glue: Type.Array(
      Shape({
        name: Type.String({ description: 'Name of the host.' }),
        addresses: Type.Array(Type.String(), { description: 'IP addresses.' }),
      }),
      { description: 'Hosts below the domain that are registered with addresses.' },
    ),
    contacts: Shape(
      {
        registrant_id: contactId('registrant'),
        admin_id: contactId('administrative'),
        tech_id: contactId('technical'),
        billing_id: contactId('billing'),
      },
      { description: 'Contacts of the domain.' },
    ),
    renewal_price: Nullable(MoneyShape, { description: 'Price of a renewal for a year; null if it is not known.' }),
    capabilities: Type.Array(Type.String(), { description: 'What can be done at the registrar, such as `renew`.' }),
    sync: Shape(
      {
        state: Words(syncStates, {
          description:
            '`pending`: not looked up yet. `fresh`: up to date. `stale`: the last three lookups failed. `error`: it can’t be looked up.',
        }),
        checked_at: NullableInstant({ description: 'When a lookup last succeeded; null if none did.' }),
        next_check_at: NullableInstant({ description: 'When it is looked up next; null if it is not.' }),
        error: Nullable(Type.String(), { description: 'Why the last lookup failed; null if it succeeded.' }),
      },
      { description: 'Whether the facts are up to date.' },
    ),
    ...editable,
  },
  {
    $id: 'Domain',
    description: 'A domain that is tracked: when its registration ends, its status, and where it is delegated.',
    examples: [example],
  },
)
export const DomainList = ListOf(Domain)
export type DomainView = Static<typeof Domain>

export const DomainInput = Shape(
  { ...inputMembers(domainMembers), expires_at: Type.Optional(given) },
  { $id: 'DomainInput', description: 'A domain to track.', examples: [{ name: 'example.com' }] },
)
export type DomainInput = Static<typeof DomainInput>

export const DomainPatch = Shape(
  { ...patchMembers(domainMembers), expires_at: Type.Optional(given) },
  {
    $id: 'DomainPatch',
    description: 'Fields of a domain to update.',
    examples: [{ tags: ['shop'], notify_days: [30, 7, 1] }],
  },
)
export type DomainPatch = Static<typeof DomainPatch>
