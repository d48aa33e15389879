import { Type, type Static } from '@sinclair/typebox'
import { members, patchMembers, viewMembers } from '../../core/members'
import { editable, Instant, ListOf, Nullable, NullableInstant, Prose, Shape, Tags, Words } from '../../core/shapes'
import { alarmLevels } from './life'
import { certificateSources, presenceKinds } from './places'

export const trusts = ['public', 'private', 'self_signed', 'untrusted'] as const
/** The schema of a level. */
export const Level = (description: string) => Words(alarmLevels, { description })

export const certificateStatuses = ['valid', 'expiring', 'expired', 'not_yet_valid', 'revoked', 'superseded', 'retired'] as const
export type CertificateStatus = (typeof certificateStatuses)[number]
export const findingSeverities = ['high', 'medium', 'low', 'info'] as const
const findingCodes = [
  'key_mismatch',
  'key_readable',
  'key_reused',
  'lifetime_over_limit',
  'no_names',
  'sha1_signature',
  'weak_key',
] as const

/** Lists show at most this many names of a certificate. */
export const maxShownNames = 100

export const certificateMembers = members({
  tags: { schema: Tags, default: [] },
  notes: { schema: Prose({ maxLength: 10_000, description: 'Notes about the certificate.' }), default: '', clearable: true },
})

const maybe = (description: string) => Nullable(Type.String(), { description })
const hex = (description: string) => Type.String({ description: `${description}, in hexadecimal.` })

const CertificatePresence = Shape(
  {
    kind: Words(presenceKinds, {
      description:
        'Where: at a TLS `endpoint`, in a `file` on a server or `served` by a port of it, as its agent reports, in a CT log (`ct`), as an ' +
        '`upload`, or `issued` by Bailiwick.',
    }),
    endpoint_id: maybe('ID of the TLS endpoint.'),
    server_id: maybe('ID of the server.'),
    managed_certificate_id: maybe('ID of the managed certificate.'),
    host: maybe('Host of the endpoint.'),
    port: Nullable(Type.Integer(), { description: 'Port.' }),
    address: maybe('IP address.'),
    servername: maybe('Server name for which the port presents the certificate.'),
    process: maybe('Program that presents it.'),
    path: maybe('Path of the file.'),
    key: Nullable(Words(['matches', 'mismatch', 'missing', 'unreadable']), {
      description: 'Whether the private key for the file belongs to the certificate.',
    }),
    mode: maybe('File mode of the private key, in octal.'),
    references: Type.Array(Type.String(), { description: 'Services that use the file.' }),
    first_seen_at: Instant({ description: 'When it was first seen there.' }),
    last_seen_at: Instant({ description: 'When it was last seen there; updated once an hour at most.' }),
    ended_at: NullableInstant({ description: 'When it was no longer there. Null while it is there.' }),
  },
  { $id: 'CertificatePresence', description: 'A place where a certificate is or was.' },
)
export type CertificatePresenceView = Static<typeof CertificatePresence>

const CertificateFinding = Shape(
  {
    code: Words(findingCodes, { description: 'What was found.' }),
    severity: Words(findingSeverities, { description: 'How serious it is.' }),
    detail: Type.String({ description: 'What was found, in a sentence.' }),
  },
  { $id: 'CertificateFinding', description: 'A problem with a certificate itself or with how it is stored.' },
)
export type CertificateFindingView = Static<typeof CertificateFinding>

const names = (what: string) =>
  Type.Array(Type.String(), {
    description: `${what} that the certificate is valid for. Lists contain the first ${maxShownNames}.`,
  })

const at = '2026-11-27T10:00:00.000Z'
const exampleCertificate = {
  id: 'cert_01k3zc1d3e5f7g9h1j3k5m7n9p',
  tags: ['shop'],
  notes: '',
  fingerprint_sha256: '5b1c0f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e',
  tbs_sha256: 'a11f0f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e',
  serial_number: '04d1f2a3b4c5d6e7f8091a2b3c4d5e6f7081',
  common_name: 'shop.example.com',
  dns_names: ['shop.example.com', 'www.shop.example.com'],
  ip_addresses: [],
  name_count: 2,
  subject: 'CN=shop.example.com',
  issuer: 'C=US, O=Example CA, CN=R3',
  issuer_key_id: 'c368',
  not_before: '2026-11-10T00:00:00.000Z',
  not_after: '2027-02-08T00:00:00.000Z',
  lifetime_seconds: 7_776_000,
  key: { type: 'ec', bits: 256, spki_sha256: '93420f6d3f9d7f0f4f1a4e3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0f9e' },
  signature_algorithm: 'sha256WithRSAEncryption',
  key_usage: ['digitalSignature'],
  extended_key_usage: ['serverAuth'],
  policies: ['2.23.140.1.2.1'],
  must_staple: false,
  sct_count: 2,
  precertificate: false,
  is_ca: false,
  trust: 'public' as const,
  status: 'valid' as const,
  level: null,
  days_left: 72,
  expiring_at: '2027-01-09T00:00:00.000Z',
  critical_at: '2027-02-01T00:00:00.000Z',
  renewal_due_at: '2027-01-09T00:00:00.000Z',
  auto_renewing: true,
  renewal_overdue: false,
  lineage_id: 'lin_01k3zc1d3e5f7g9h1j3k5m7n9p',
  superseded_by: null,
  revoked_at: null,
  revocation_reason: null,
  revocation_checked_at: '2026-11-27T04:11:00.000Z',
  revocation_error: null,
  in_use: true,
  sources: ['endpoint' as const],
  presence_count: 1,
  presences: [
    {
      ...{ kind: 'endpoint' as const, endpoint_id: 'tls_01k3zc1d3e5f7g9h1j3k5m7n9p', server_id: null },
      ...{ managed_certificate_id: null, host: 'shop.example.com', port: 443, address: '192.0.2.1', servername: null },
      ...{ process: null, path: null, key: null, mode: null, references: [] },
      ...{ first_seen_at: '2026-11-10T00:05:00.000Z', last_seen_at: at, ended_at: null },
    },
  ],
  findings: [],
  gap_ids: [],
  chain: ['cert_01k3zc1d3e5f7g9h1j3k5m7n9q'],
  version: 1,
  created_at: at,
  updated_at: at,
}

export const Certificate = Shape(
  {
    id: Type.String({ description: 'ID of the certificate.' }),
    ...viewMembers(certificateMembers),
    fingerprint_sha256: hex('SHA-256 of the DER form'),
    tbs_sha256: hex(
      'SHA-256 of the certificate without its signature, SCTs, and the poison extension, which is the same for a precertificate in a CT log',
    ),
    serial_number: hex('Serial number'),
    common_name: maybe('Common name of the subject. Null if it has none.'),
    dns_names: names('DNS names'),
    ip_addresses: names('IP addresses'),
    name_count: Type.Integer({ description: 'Number of DNS names and IP addresses.' }),
    subject: Type.String({ description: 'Subject.' }),
    issuer: Type.String({ description: 'Issuer.' }),
    issuer_key_id: Nullable(Type.String(), { description: 'Authority key identifier, in hexadecimal. Null if there is none.' }),
    not_before: Instant({ description: 'Start of the validity period.' }),
    not_after: Instant({ description: 'End of the validity period.' }),
    lifetime_seconds: Type.Integer({ description: 'Length of the validity period, in seconds.' }),
    key: Shape(
      {
        type: maybe('Type of the key, such as `rsa` or `ec`. Null if unknown.'),
        bits: Nullable(Type.Integer(), { description: 'Size of the key in bits. Null if the type has only one size.' }),
        spki_sha256: Nullable(Type.String(), {
          description: 'SHA-256 of the public key (SubjectPublicKeyInfo as DER), in hexadecimal. Null if unknown.',
        }),
      },
      { description: 'Public key.' },
    ),
    signature_algorithm: Type.String({ description: 'Signature algorithm: its name, or its object identifier.' }),
    key_usage: Nullable(Type.Array(Type.String()), { description: 'Key usage. Null if it is not limited.' }),
    extended_key_usage: Nullable(Type.Array(Type.String()), { description: 'Extended key usage. Null if it is not limited.' }),
    policies: Type.Array(Type.String(), { description: 'Object identifiers of the certificate policies.' }),
    must_staple: Type.Boolean({ description: 'Whether servers must staple an OCSP response.' }),
    sct_count: Type.Integer({ description: 'Number of signed certificate timestamps in the certificate.' }),
    precertificate: Type.Boolean({ description: 'Whether only the precertificate is known, from a CT log.' }),
    is_ca: Type.Boolean({ description: 'Whether it is the certificate of a CA.' }),
    trust: Words(trusts, {
      description:
        'Whether a path to a root is known: `public` for a root that is trusted publicly, `private` for a certificate authority of the ' +
        'workspace, `self_signed`, or `untrusted`.',
    }),
    status: Words(certificateStatuses, {
      description:
        '`expiring` depends on the lifetime. `superseded`: a newer certificate of the same lineage is used everywhere. `retired`: not seen ' +
        'anywhere for 30 days.',
    }),
    level: Nullable(Words(alarmLevels), {
      description: 'How urgent it is to replace it. Null if it isn’t, or if the certificate is not in use.',
    }),
    days_left: Type.Integer({ description: 'Whole days until `not_after`; negative if it has expired.' }),
    expiring_at: Instant({ description: '30 days before `not_after`, or a third of the lifetime if that is shorter.' }),
    critical_at: Instant({ description: '7 days before `not_after`, or a sixth of the lifetime if that is shorter.' }),
    renewal_due_at: Instant({ description: 'When an automatic renewal should replace it.' }),
    auto_renewing: Type.Boolean({
      description:
        'Whether it is renewed automatically: it is managed here, or its last two predecessors were replaced in time. Then the level ' +
        '`expiring` begins only when the renewal is overdue by a tenth of the lifetime.',
    }),
    renewal_overdue: Type.Boolean({ description: 'Whether an automatic renewal should have replaced it already.' }),
    lineage_id: Type.String({
      description: 'ID of its lineage: certificates with the same names, by the same CA, and with the same type of key.',
    }),
    superseded_by: maybe('ID of the newer certificate that replaced it everywhere. Null if there is none.'),
    revoked_at: NullableInstant({
      description:
        'When it was revoked: with its managed certificate, or as its revocation list says. Null if that is not known.',
    }),
    revocation_reason: maybe(
      'Why it was revoked, such as `key_compromise` or `certificate_hold`. Null if it is not revoked or no reason was given.',
    ),
    revocation_checked_at: NullableInstant({
      description:
        'When its revocation list was last searched for it. Null if it names none, or if none could be used yet. Certificates that are not in ' +
        'use are not searched for.',
    }),
    revocation_error: maybe('Why its revocation list could not be used at the last attempt. Null if it could.'),
    in_use: Type.Boolean({
      description:
        'Whether it is presented by an endpoint or port, used by a service, issued here, or uploaded, and not superseded.',
    }),
    sources: Type.Array(Words(certificateSources), { description: 'What reports it now.' }),
    presence_count: Type.Integer({ description: 'Number of places where it is.' }),
    presences: Type.Array(CertificatePresence, {
      description: 'Where it is, and where it was in the last 90 days. At most 100; lists contain the first 10 that are current.',
    }),
    findings: Type.Array(CertificateFinding, { description: 'Problems, the most serious first.' }),
    gap_ids: Type.Array(Type.String(), {
      description: 'IDs of the open and acknowledged gaps that are about it, the most severe first, up to 100.',
    }),
    chain: Type.Array(Type.String(), {
      description: 'IDs of the certificates of its issuers, as far as they are known; the root last.',
    }),
    ...editable,
  },
  { $id: 'Certificate', description: 'A certificate that was seen somewhere.', examples: [exampleCertificate] },
)
export const CertificateList = ListOf(Certificate)
export const CertificatePatch = Shape(patchMembers(certificateMembers), {
  $id: 'CertificatePatch',
  description: 'Fields of the certificate to update.',
  examples: [{ tags: ['shop'] }],
})
export type CertificateView = Static<typeof Certificate>
export type CertificatePatch = Static<typeof CertificatePatch>

export const chainFormats = ['leaf', 'chain', 'full'] as const
export type ChainFormat = (typeof chainFormats)[number]
