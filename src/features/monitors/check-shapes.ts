import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Nullable, Shape, Words } from '../../core/shapes'
import { resultMembers } from './shapes'

const CheckedNow = Shape(
  {
    ...resultMembers,
    certificate: Nullable(
      Shape({
        subject: Type.String({ description: 'Subject of the certificate.' }),
        issuer: Type.String({ description: 'Issuer of the certificate.' }),
        names: Type.Array(Type.String(), { description: 'Names and addresses the certificate is valid for.' }),
        serial: Type.String({ description: 'Serial number in hexadecimal.' }),
        sha256: Type.String({ description: 'SHA-256 fingerprint in hexadecimal.' }),
        valid_from_at: Instant({ description: 'Start of validity.' }),
        valid_until_at: Instant({ description: 'End of validity.' }),
      }),
      { description: 'Certificate the server presented; null if there was none.' },
    ),
    conditions: Type.Array(
      Shape({
        level: Words(['down', 'degraded'], { description: 'Which list the condition is in: `down_if` or `degraded_if`.' }),
        index: Type.Integer({ minimum: 0, description: 'Position in that list.' }),
        condition: Type.String({ description: 'The condition as stored.' }),
        found: Type.String({ description: 'The condition with the actual values filled in.' }),
      }),
      { description: 'Conditions that were true.' },
    ),
    evidence: Nullable(
      Shape({
        request: Nullable(Type.String(), { description: 'The request, without secrets; null if none was sent.' }),
        address: Nullable(Type.String(), { description: 'IP address the check connected to; null if there was none.' }),
        status: Nullable(Type.Integer(), { description: 'Status code of the response; null if there was none.' }),
        headers: Nullable(Type.Record(Type.String(), Type.String()), {
          description: 'Response headers; null if there were none.',
        }),
        body: Nullable(Type.String(), { description: 'Response body, up to 4 KiB; null if there was none.' }),
        body_truncated: Type.Boolean({ description: 'Whether the body was cut off.' }),
        tls: Nullable(
          Shape({
            version: Type.String({ description: 'TLS version.' }),
            cipher: Type.String({ description: 'Cipher suite.' }),
          }),
          { description: 'Negotiated TLS parameters; null without TLS.' },
        ),
        dns: Nullable(
          Shape({
            rcode: Type.String({ description: 'Response code, such as `NOERROR`.' }),
            answers: Type.Array(Type.String(), { description: 'Records of the answer.' }),
          }),
          { description: 'DNS response; null for other check types.' },
        ),
      }),
      {
        description:
          'The request and the response of a check whose result is not `up`. Null if the result is `up`, or if the check ran on another hub.',
      },
    ),
  },
  { description: 'Result of the check; null if there was none in time.' },
)
export const MonitorCheck = Shape(
  { monitor_id: Type.String({ description: 'ID of the monitor.' }), result: Nullable(CheckedNow) },
  {
    $id: 'MonitorCheck',
    description: 'The result of a single check.',
    examples: [
      {
        monitor_id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m',
        result: {
          at: '2026-11-21T10:00:00.000Z',
          status: 'up',
          error: null,
          code: 200,
          address: '192.0.2.7',
          latency_ms: 70.3,
          phases: { dns_ms: 1.2, connect_ms: 8.4, tls_ms: 17.1, first_byte_ms: 41.9 },
          certificate_expires_at: '2027-02-01T00:00:00.000Z',
          certificate: {
            subject: 'CN=shop.example.com',
            issuer: 'CN=R12,O=Example Trust,C=US',
            names: ['shop.example.com'],
            serial: '04f3a1',
            sha256: '5f1c0f7a2f7d5b7f0f4c7f1e9a6d1f3b8f2e7c5d9b4a3c2e1f0d9c8b7a6f5e4d',
            valid_from_at: '2026-11-03T00:00:00.000Z',
            valid_until_at: '2027-02-01T00:00:00.000Z',
          },
          conditions: [],
          evidence: null,
        },
      },
    ],
  },
)
export type MonitorCheckView = Static<typeof MonitorCheck>
