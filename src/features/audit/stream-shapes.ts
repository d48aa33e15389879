import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { ownSecret, secretHints, secretRotation, shownSecret } from '../../core/outgoing/secret-shapes'
import { editable, Line, ListOf, NullableInstant, Nullable, Shape, Words } from '../../core/shapes'
import { actionPattern } from './shapes'

const streamStates = ['ok', 'failing', 'paused'] as const

/** The members that clients set. The columns and the fields of requests and responses are made from them. */
export const streamMembers = members({
  name: {
    schema: Type.String({ description: 'Name of the stream.' }),
    input: Line({ minLength: 1, maxLength: 100, description: 'Name of the stream.' }),
    required: true,
  },
  url: {
    schema: Type.String({
      minLength: 1,
      maxLength: 2_048,
      description: 'URL to post the audit log to. Must use HTTPS, unless the network policy of the workspace allows HTTP.',
    }),
    required: true,
  },
  actions: {
    schema: Nullable(Type.Array(Type.String(actionPattern), { minItems: 1, maxItems: 50, uniqueItems: true }), {
      description:
        'Send only entries with these actions or prefixes, such as `heartbeat.*`; null for all actions. The receiver can’t ' +
        'verify that a filtered log is complete.',
    }),
  },
  active: {
    schema: Type.Boolean({
      description: 'Whether the stream is active. False pauses it; when you set it back to true, it resumes where it stopped.',
    }),
    default: true,
  },
})

const example = {
  id: 'aus_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'SIEM',
  url: 'https://siem.example.com/bailiwick',
  actions: null,
  active: true,
  status: 'ok',
  position: 4_217,
  lag: 0,
  last_success_at: '2026-11-21T10:00:00.000Z',
  last_error: null,
  failing_since_at: null,
  next_attempt_at: null,
  secret_hint: 'whsec_…n2o=',
  next_secret_hint: null,
  overlap_ends_at: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
const fields = {
  id: Type.String({ description: 'ID of the stream.' }),
  ...viewMembers(streamMembers),
  status: Words(streamStates, {
    description:
      '`ok`: entries are being delivered. `failing`: the last attempt failed and is being retried. `paused`: `active` is false.',
  }),
  position: Type.Integer({ description: '`seq` of the last delivered entry.' }),
  lag: Type.Integer({ description: 'Number of entries not delivered yet.' }),
  last_success_at: NullableInstant({ description: 'When a message was last delivered; null if never.' }),
  last_error: Nullable(Type.String(), { description: 'Error of the last attempt; null if it succeeded.' }),
  failing_since_at: NullableInstant({ description: 'When the stream started failing; null if it is not failing.' }),
  next_attempt_at: NullableInstant({ description: 'When the failed message is retried; null if none failed.' }),
  ...secretHints,
  ...editable,
}
export const AuditStream = Shape(fields, {
  $id: 'AuditStream',
  description: 'A URL that receives the audit log of the workspace.',
  examples: [example],
})
export const AuditStreamList = ListOf(AuditStream)
export const AuditStreamWithSecret = Shape(
  {
    ...fields,
    ...shownSecret,
  },
  {
    $id: 'AuditStreamWithSecret',
    description: 'A stream with its new signing secret.',
    examples: [{ ...example, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazcuYmxpn2o=' }],
  },
)
export const AuditStreamInput = Shape(
  {
    ...inputMembers(streamMembers),
    from: Type.Optional(
      Words(['now', 'beginning'], {
        default: 'now',
        description: 'Where the stream starts: with new entries (`now`) or with the oldest stored entry (`beginning`).',
      }),
    ),
    secret: Type.Optional(ownSecret),
  },
  {
    $id: 'AuditStreamInput',
    description: 'The stream to create.',
    examples: [{ name: 'SIEM', url: 'https://siem.example.com/bailiwick', from: 'beginning' }],
  },
)
export const AuditStreamPatch = Shape(patchMembers(streamMembers), {
  $id: 'AuditStreamPatch',
  description: 'Fields of the stream to update.',
  examples: [{ active: false }],
})
export const AuditStreamSecretRotation = Shape(secretRotation, {
  $id: 'AuditStreamSecretRotation',
  description: 'Options for the rotation.',
  examples: [{ overlap_seconds: 86_400 }],
})
export const AuditStreamTestResult = Shape(
  {
    delivered: Type.Boolean({ description: 'Whether the message was delivered.' }),
    status_code: Nullable(Type.Integer(), { description: 'HTTP status of the response; null if there was none.' }),
    error_class: Nullable(Type.String(), {
      description: 'Why the delivery failed, such as `timeout`; null if the message was delivered.',
    }),
    error_message: Nullable(Type.String(), { description: 'Error message; null if the message was delivered.' }),
    duration_ms: Type.Integer({ description: 'Duration of the attempt in milliseconds.' }),
  },
  {
    $id: 'AuditStreamTestResult',
    description: 'Result of a test message.',
    examples: [{ delivered: true, status_code: 204, error_class: null, error_message: null, duration_ms: 41 }],
  },
)
export type AuditStreamView = Static<typeof AuditStream>
export type AuditStreamInput = Static<typeof AuditStreamInput>
export type AuditStreamPatch = Static<typeof AuditStreamPatch>
export type AuditStreamSecretRotation = Static<typeof AuditStreamSecretRotation>
export type AuditStreamTestResult = Static<typeof AuditStreamTestResult>
