import { Type, type Static } from '@sinclair/typebox'
import { members, patchMembers, viewMembers } from '../../core/members'
import {
  actorFields,
  editable,
  Instant,
  Line,
  ListOf,
  Nullable,
  NullableInstant,
  Prose,
  Shape,
  SinglePageOf,
  Words,
} from '../../core/shapes'
import { ctKinds } from './ct/kinds'
import { gapKindNames, gapSeverities } from './kinds'
import { causes, coverages, covers } from './names'

export const certificateSettingMembers = members({
  coverage: {
    schema: Words(coverages, {
      description:
        'Which names should have a certificate. `all`: the names of address records and mail servers in active zones, what monitors connect to with TLS, and the names that servers with an agent serve. `watched`: without the names of records. `off`: none.',
    }),
    default: 'all',
  },
  ignore: {
    schema: Type.Array(
      Line({
        minLength: 1,
        maxLength: 253,
        pattern: '^[a-zA-Z0-9_*.-]+$',
        'x-rule': 'must be a name in A-labels, in which `*` stands for any text.',
      }),
      {
        maxItems: 100,
        uniqueItems: true,
        description: 'Names that need no certificate. `*` stands for any text, such as `*.internal.example.com`.',
      },
    ),
    default: [],
  },
  ports: {
    schema: Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 }), {
      minItems: 1,
      maxItems: 10,
      uniqueItems: true,
      description:
        'Ports at which the names of records and agents are expected to serve TLS. Names that no TLS endpoint scans there get one of the origin `coverage`.',
    }),
    default: [443],
  },
})

const ctKind = Words(ctKinds, {
  description:
    'Where certificates for the names of active zones are searched for every hour: the API of Cert Spotter (`certspotter`), crt.sh (`crtsh`), or nowhere (`off`).',
})
const ctUrl = Type.Union([Line({ minLength: 1, maxLength: 1000 }), Type.Null()], {
  description: 'Address of the API. Null for the public one: https://api.certspotter.com or https://crt.sh.',
})

export const CertificateSettings = Shape(
  {
    ...viewMembers(certificateSettingMembers),
    ct: Shape(
      {
        kind: ctKind,
        url: ctUrl,
        token_set: Type.Boolean({ description: 'Whether there is a token.' }),
        last_checked_at: NullableInstant({
          description: 'When all zones had been searched for. Null until they have been once, and without zones.',
        }),
        last_error: Nullable(Type.String(), { description: 'Why the last search for a zone failed. Null if none did.' }),
      },
      { description: 'The search for certificates in Certificate Transparency logs.' },
    ),
  },
  {
    $id: 'CertificateSettings',
    description: 'Which names of the workspace should have a certificate, and where certificates for them are searched for.',
    examples: [
      {
        ...{ coverage: 'all', ignore: ['*.internal.example.com'], ports: [443] },
        ct: { kind: 'certspotter', url: null, token_set: true, last_checked_at: '2026-11-27T04:11:00.000Z', last_error: null },
      },
    ],
  },
)
export const CertificateSettingsPatch = Shape(
  {
    ...patchMembers(certificateSettingMembers),
    ct: Type.Optional(
      Shape(
        {
          kind: Type.Optional(ctKind),
          url: Type.Optional(ctUrl),
          token: Type.Optional(
            Nullable(
              Type.String({
                minLength: 1,
                maxLength: 400,
                pattern: '^[\\x21-\\x7e]+$',
                'x-rule': 'must be printable ASCII without spaces.',
                writeOnly: true,
              }),
              {
                description:
                  'API key of Cert Spotter. Stored encrypted, and never shown. Null removes it. It must be entered again when you change `url`.',
              },
            ),
          ),
        },
        { description: 'The search for certificates in Certificate Transparency logs. Omitted fields are left as they are.' },
      ),
    ),
  },
  {
    $id: 'CertificateSettingsPatch',
    description: 'Settings to update.',
    examples: [{ ignore: ['*.internal.example.com', 'db-*.example.com'] }, { ct: { kind: 'certspotter' } }],
  },
)
export type CertificateSettingsView = Static<typeof CertificateSettings>
export type CertificateSettingsPatch = Static<typeof CertificateSettingsPatch>

/** What happens to a gap. */
const gapEntryKinds = ['opened', 'acknowledged', 'unacknowledged', 'issue_started', 'issued', 'issue_failed', 'resolved'] as const

/** Those of the API: pending ones are not part of it. */
export const gapStatuses = ['open', 'acknowledged', 'resolved'] as const

const maybeId = (what: string) => Nullable(Type.String(), { description: `ID of the ${what}; null if it isn’t about one.` })

export const CertificateGap = Shape(
  {
    id: Type.String({ description: 'ID of the gap.' }),
    kind: Words(gapKindNames, { description: 'What is wrong. The handbook explains all kinds.' }),
    severity: Words(gapSeverities, { description: 'Severity.' }),
    status: Words(gapStatuses, {
      description: 'Status. `resolved`: it no longer exists. A gap that comes back is opened again with the same ID.',
    }),
    name: Type.String({ description: 'Name that it is about.' }),
    zone_id: Nullable(Type.String(), { description: 'ID of the zone that contains the name; null if none does.' }),
    endpoint_id: maybeId('TLS endpoint'),
    certificate_id: maybeId('certificate'),
    server_id: maybeId('server'),
    incident_id: Nullable(Type.String(), { description: 'ID of the latest incident that it opened; null if it opened none.' }),
    detail: Type.String({ description: 'What was found, as a sentence.' }),
    fix: Type.String({ description: 'What to do about it.' }),
    evidence: Type.Record(Type.String(), Type.Unknown(), { description: 'Details of what was found. They depend on the kind.' }),
    issuable: Type.Boolean({
      description: 'Whether a new certificate closes the gap and can be issued, because the zone of the name is managed here.',
    }),
    opened_at: Instant({ description: 'When it was opened; for one that came back, when it was opened again.' }),
    acknowledged_at: NullableInstant({ description: 'When it was acknowledged; null if it isn’t.' }),
    acknowledged_until: NullableInstant({ description: 'When the acknowledgement expires; null if it doesn’t.' }),
    acknowledged_by: Nullable(Shape(actorFields), { description: 'Who acknowledged it; null if it isn’t acknowledged.' }),
    note: Type.String({ description: 'Note of the acknowledgement.' }),
    resolved_at: NullableInstant({ description: 'When it was resolved; null if it isn’t.' }),
    ...editable,
  },
  {
    $id: 'CertificateGap',
    description: 'A problem with the certificate of a name, or a name without a certificate.',
    examples: [
      {
        ...{ id: 'cgap_01k3zc1d3e5f7g9h1j3k5m7n9p', kind: 'stale_on_disk', severity: 'high', status: 'open' },
        ...{ name: 'shop.example.com', zone_id: 'zone_01k3z9a1b2c3d4e5f6g7h8j9km', endpoint_id: null },
        certificate_id: 'cert_01k3zc1d3e5f7g9h1j3k5m7n9p',
        server_id: 'srv_01k3zc1d3e5f7g9h1j3k5m7n9p',
        incident_id: 'inc_01k3zc1d3e5f7g9h1j3k5m7n9p',
        detail: 'nginx on web-1 serves the certificate that ends on 2026-11-30, although /etc/ssl/shop.pem contains a newer one.',
        fix: 'Reload nginx.',
        evidence: { port: 443, path: '/etc/ssl/shop.pem' },
        issuable: false,
        opened_at: '2026-11-27T04:11:00.000Z',
        ...{ acknowledged_at: null, acknowledged_until: null, acknowledged_by: null, note: '', resolved_at: null },
        version: 1,
        created_at: '2026-11-27T04:11:00.000Z',
        updated_at: '2026-11-27T04:11:00.000Z',
      },
    ],
  },
)
export const CertificateGapList = ListOf(CertificateGap)
export type CertificateGapView = Static<typeof CertificateGap>

const CertificateGapEntry = Shape(
  {
    at: Instant({ description: 'When it happened.' }),
    kind: Words(gapEntryKinds, {
      description:
        'What happened. `issue_started`: a certificate was requested for the gap. `issued`: it was issued, and has to be installed. `issue_failed`: the request failed.',
    }),
    text: Type.String({ description: 'Details, as a sentence; empty if there are none.' }),
    actor: Nullable(Shape(actorFields), { description: 'Who did it; null for automatic changes.' }),
    action_id: Nullable(Type.String(), { description: 'ID of the action that issues the certificate; null for other entries.' }),
  },
  {
    $id: 'CertificateGapEntry',
    description: 'An entry of the timeline of a gap.',
    examples: [
      {
        ...{ at: '2026-11-27T10:00:20.000Z', kind: 'issued', text: 'The certificate is valid until 2027-02-25.' },
        ...{ actor: null, action_id: 'act_01k3z9a1b2c3d4e5f6g7h8j9km' },
      },
    ],
  },
)
export const CertificateGapTimeline = SinglePageOf(CertificateGapEntry)
export type CertificateGapEntryView = Static<typeof CertificateGapEntry>

export const GapIssue = Shape(
  {
    acme_account_id: Type.String({ maxLength: 100, description: 'ID of the ACME account to issue the certificate with.' }),
    include: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 99,
        default: [],
        description: 'More names for the certificate.',
      }),
    ),
  },
  {
    $id: 'GapIssue',
    description: 'How to issue the certificate.',
    examples: [{ acme_account_id: 'acme_01k3z9a1b2c3d4e5f6g7h8j9km', include: ['www.shop.example.com'] }],
  },
)
export type GapIssue = Static<typeof GapIssue>

export const GapAcknowledgement = Shape(
  {
    until: Type.Optional(
      Nullable(Type.String({ format: 'date-time' }), {
        description: 'When the acknowledgement expires, at most 366 days from now. Null or omitted: when the gap is resolved.',
      }),
    ),
    note: Prose({ minLength: 1, maxLength: 1000, description: 'Why it is accepted.' }),
  },
  {
    $id: 'CertificateGapAcknowledgement',
    description: 'Acknowledgement of a gap.',
    examples: [{ until: '2027-01-31T00:00:00.000Z', note: 'The old server is shut down in January.' }],
  },
)
export type GapAcknowledgement = Static<typeof GapAcknowledgement>

const CertificateCoverage = Shape(
  {
    name: Type.String({ description: 'Name that should have a certificate.' }),
    zone_id: Nullable(Type.String(), { description: 'ID of the zone that contains the name; null if none does.' }),
    sources: Type.Array(Words(causes), {
      description:
        'What the name is from: a `record` with an address, a `mail` server of an MX record, a `monitor`, or the `agent` of a server.',
    }),
    covered: Words(covers, {
      description: 'Whether a valid certificate contains the name (`full`), a `wildcard` for it, or neither (`none`).',
    }),
    certificate_id: Nullable(Type.String(), { description: 'ID of that certificate; null if there is none.' }),
    valid_until: NullableInstant({ description: 'When that certificate expires; null if there is none.' }),
    endpoint_ids: Type.Array(Type.String(), { description: 'IDs of the TLS endpoints of the name.' }),
    gap_ids: Type.Array(Type.String(), { description: 'IDs of the gaps of the name that are not resolved, up to 100.' }),
  },
  {
    $id: 'CertificateCoverage',
    description: 'A name that should have a certificate.',
    examples: [
      {
        name: 'shop.example.com',
        zone_id: 'zone_01k3z9a1b2c3d4e5f6g7h8j9km',
        sources: ['record', 'monitor'],
        covered: 'wildcard',
        certificate_id: 'cert_01k3zc1d3e5f7g9h1j3k5m7n9p',
        valid_until: '2027-02-08T00:00:00.000Z',
        endpoint_ids: [],
        gap_ids: [],
      },
    ],
  },
)
export const CertificateCoverageList = ListOf(CertificateCoverage)
export type CertificateCoverageView = Static<typeof CertificateCoverage>
