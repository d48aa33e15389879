import { Type, type Static } from '@sinclair/typebox'
import { Instant, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { chainState, exampleReport, gradeLetter, profile, report } from '../grades/shapes'

/** Why an endpoint was scanned. */
export const scanTriggers = ['schedule', 'manual', 'created', 'certificate'] as const

const summary = {
  id: Type.String({ description: 'ID of the scan.' }),
  endpoint_id: Type.String({ description: 'ID of the endpoint.' }),
  trigger: Words(scanTriggers, {
    description:
      'Why it ran: on `schedule`, because someone started it (`manual`), because the endpoint was `created` or updated, or because a monitor got another `certificate` from the server.',
  }),
  started_at: Instant({ description: 'When it started.' }),
  duration_ms: Type.Integer({ description: 'Duration in milliseconds.' }),
}

const exampleSummary = {
  id: 'tsc_01k3zc1d3e5f7g9h1j3k5m7n9p',
  endpoint_id: 'tls_01k3zc1d3e5f7g9h1j3k5m7n9p',
  trigger: 'schedule' as const,
  started_at: '2026-11-27T04:11:00.000Z',
  duration_ms: 31,
}

const TlsScanSummary = Shape(
  {
    ...summary,
    grade: Nullable(gradeLetter, { description: 'Grade; null if the scan failed.' }),
    score: Nullable(Type.Integer({ minimum: 0, maximum: 100 }), { description: 'Score from 0 to 100; null without a grade.' }),
    profile: Nullable(profile, { description: profile.description as string }),
    chain: Nullable(chainState, { description: chainState.description as string }),
    rules: Type.Array(Type.String(), { description: 'Rules that the server violates.' }),
    error: Nullable(Type.String(), { description: 'Why the scan failed; null if it succeeded.' }),
  },
  {
    $id: 'TlsScanSummary',
    description: 'A scan of a TLS endpoint, without its details.',
    examples: [
      {
        ...exampleSummary,
        ...{ grade: 'A-', score: 93, profile: 'intermediate', chain: 'ok', rules: ['no_tls13'], error: null },
      },
    ],
  },
)
export const TlsScanList = ListOf(TlsScanSummary)
export type TlsScanSummaryView = Static<typeof TlsScanSummary>

const ScanChange = Shape(
  {
    field: Words(
      [
        'grade',
        'score',
        'profile',
        'chain',
        'addresses',
        'versions',
        'suites',
        'groups',
        'certificates',
        'rules',
        'hsts',
        'alpn',
      ],
      {
        description: 'What changed.',
      },
    ),
    from: Nullable(Type.String(), { description: 'What it was; null if it was added.' }),
    to: Nullable(Type.String(), { description: 'What it is; null if it was removed.' }),
  },
  { $id: 'TlsScanChange', description: 'A difference between two scans.' },
)
export type ScanChange = Static<typeof ScanChange>

const PlainHttp = Shape(
  {
    address: Type.String({ description: 'IP address that answered.' }),
    status: Type.Integer({ description: 'Status code of the response.' }),
  },
  { $id: 'TlsPlainHttp', description: 'A server that answers HTTP without TLS.' },
)

export const TlsScan = Shape(
  {
    ...summary,
    ...report,
    plain_http: Nullable(PlainHttp, {
      description:
        'What answers HTTP at port 80 while port 443 is closed at every address; null if nothing does. Only tested for endpoints with the origin `coverage`.',
    }),
    compared_to: Nullable(Type.String(), {
      description:
        'ID of the scan that `changes` compares with: the previous one that succeeded, or `compare_to`. Null if there is none.',
    }),
    changes: Type.Array(ScanChange, { description: 'Differences to the other scan.' }),
  },
  {
    $id: 'TlsScan',
    description: 'A scan of a TLS endpoint, with everything that it found.',
    examples: [
      {
        ...exampleSummary,
        ...exampleReport,
        plain_http: null,
        compared_to: 'tsc_01k3za1d3e5f7g9h1j3k5m7n9p',
        changes: [{ field: 'versions', from: '1.1', to: null }],
      },
    ],
  },
)
export type TlsScanView = Static<typeof TlsScan>

export const ScanQuery = Shape({
  compare_to: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'ID of another scan of the endpoint to compare with.' }),
  ),
})
