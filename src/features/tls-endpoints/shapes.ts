import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { editable, ListOf, Nullable, NullableInstant, Shape, Tags, Words } from '../../core/shapes'
import { chainState, exampleBriefReason, gradeLetter, optionalPort, profile, scanned, TlsReason } from './grades/shapes'

export const tlsEndpointOrigins = ['manual', 'monitor', 'coverage', 'agent'] as const
export const minIntervalSeconds = 3600
const maxIntervalSeconds = 604_800

/** The fields that clients set. */
export const tlsEndpointMembers = members({
  host: { schema: scanned.host, required: true, fixed: true },
  port: { schema: scanned.port, required: true, fixed: true },
  protocol: { schema: scanned.protocol, default: 'tls', fixed: true },
  servername: { schema: scanned.servername, default: null },
  interval_seconds: {
    schema: Type.Integer({
      minimum: minIntervalSeconds,
      maximum: maxIntervalSeconds,
      description: 'Seconds between scans: from an hour to a week.',
    }),
    default: 86_400,
  },
  active: { schema: Type.Boolean({ description: 'Whether it is scanned on a schedule.' }), default: true },
  tags: { schema: Tags, default: [] },
})

const AddressGrade = Shape(
  {
    address: Type.String({ description: 'IP address.' }),
    state: Words(['tls', 'no_tls', 'unreachable'], {
      description:
        '`tls`: it was scanned. `no_tls`: the port is open, but the server does not speak TLS. `unreachable`: it could not be scanned.',
    }),
    grade: Nullable(gradeLetter, { description: 'Grade of the address; null if it could not be scanned.' }),
    certificate_id: Nullable(Type.String(), { description: 'ID of the certificate that it serves; null if it is unknown.' }),
    error: Nullable(Type.String(), { description: 'Why it could not be scanned; null if it was.' }),
  },
  { $id: 'TlsAddressGrade', description: 'The grade of one address of a TLS endpoint.' },
)
export type AddressGrade = Static<typeof AddressGrade>

const example = {
  id: 'tls_01k3zc1d3e5f7g9h1j3k5m7n9p',
  host: 'shop.example.com',
  port: 443,
  protocol: 'tls' as const,
  servername: null,
  interval_seconds: 86_400,
  active: true,
  tags: ['shop'],
  origin: 'manual' as const,
  grade: 'A-' as const,
  previous_grade: 'B' as const,
  grade_changed_at: '2026-11-20T04:11:00.000Z',
  score: 93,
  profile: 'intermediate' as const,
  chain: 'ok' as const,
  reasons: [exampleBriefReason],
  certificate_id: null,
  addresses: [{ address: '192.0.2.1', state: 'tls' as const, grade: 'A-' as const, certificate_id: null, error: null }],
  last_scan_id: 'tsc_01k3zc1d3e5f7g9h1j3k5m7n9p',
  last_scan_at: '2026-11-27T04:11:00.000Z',
  next_scan_at: '2026-11-28T04:11:00.000Z',
  deletes_at: null,
  failures: 0,
  last_error: null,
  version: 1,
  created_at: '2026-11-01T10:00:00.000Z',
  updated_at: '2026-11-01T10:00:00.000Z',
}

export const TlsEndpoint = Shape(
  {
    id: Type.String({ description: 'ID of the endpoint.' }),
    ...viewMembers(tlsEndpointMembers),
    origin: Words(tlsEndpointOrigins, {
      description:
        'Why it exists: `manual`, or because of a `monitor`, the `coverage` of a zone, or an `agent`. Those endpoints are deleted a day after their cause. An update makes an endpoint `manual`.',
    }),
    grade: Nullable(gradeLetter, {
      description: 'Grade of the worst address in the last scan that succeeded; null before it.',
    }),
    previous_grade: Nullable(gradeLetter, { description: 'Grade before the last change; null if it has not changed.' }),
    grade_changed_at: NullableInstant({ description: 'When the grade last changed; null if it has not changed.' }),
    score: Nullable(Type.Integer({ minimum: 0, maximum: 100 }), { description: 'Score from 0 to 100; null without a grade.' }),
    profile: Nullable(profile, { description: profile.description as string }),
    chain: Nullable(chainState, { description: chainState.description as string }),
    reasons: Type.Array(TlsReason, { description: 'Why the grade is not better, the most serious first.' }),
    certificate_id: Nullable(Type.String(), { description: 'ID of the certificate that it serves; null if it is unknown.' }),
    addresses: Type.Array(AddressGrade, { description: 'Addresses of the host in the last scan.' }),
    last_scan_id: Nullable(Type.String(), { description: 'ID of the last scan; null if there was none.' }),
    last_scan_at: NullableInstant({ description: 'When it was last scanned; null if it was not.' }),
    next_scan_at: NullableInstant({ description: 'When it is scanned next; null while it is not active.' }),
    deletes_at: NullableInstant({
      description:
        'When it is deleted, because its monitor or name is gone. Until then, it isn’t scanned, and continues with its scans if the cause comes back. Null otherwise.',
    }),
    failures: Type.Integer({ description: 'Number of scans that failed in a row.' }),
    last_error: Nullable(Type.String(), { description: 'Why the last scan failed; null if it succeeded.' }),
    ...editable,
  },
  { $id: 'TlsEndpoint', description: 'A host and port whose TLS configuration is scanned on a schedule.', examples: [example] },
)
export const TlsEndpointList = ListOf(TlsEndpoint)
export type TlsEndpointView = Static<typeof TlsEndpoint>

export const TlsEndpointInput = Shape(
  { ...inputMembers(tlsEndpointMembers), port: optionalPort },
  { $id: 'TlsEndpointInput', description: 'A TLS endpoint to create.', examples: [{ host: 'shop.example.com', port: 443 }] },
)
export type TlsEndpointInput = Static<typeof TlsEndpointInput>

export const TlsEndpointPatch = Shape(patchMembers(tlsEndpointMembers), {
  $id: 'TlsEndpointPatch',
  description: 'Fields of a TLS endpoint to update.',
  examples: [{ interval_seconds: 3600 }],
})
export type TlsEndpointPatch = Static<typeof TlsEndpointPatch>

export const maxImportBytes = 256 * 1024
export const maxImportLines = 1000
export const importExample = 'shop.example.com:443\nmail.example.com:25/smtp\n[2001:db8::1]:8443/tls\n'

export const TlsEndpointImport = Shape(
  {
    created: Type.Integer({ description: 'Number of endpoints that were created.' }),
    existing: Type.Integer({ description: 'Number of lines whose endpoint exists already.' }),
    ids: Type.Array(Type.String(), { description: 'IDs of the endpoints that were created.' }),
  },
  {
    $id: 'TlsEndpointImport',
    description: 'Result of an import.',
    examples: [{ created: 2, existing: 1, ids: ['tls_01k3zc1d3e5f7g9h1j3k5m7n9p', 'tls_01k3zc1d3e5f7g9h1j3k5m7n9q'] }],
  },
)
export type TlsEndpointImport = Static<typeof TlsEndpointImport>
