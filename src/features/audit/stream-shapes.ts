import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../core/shapes'
import { actionPattern } from './shapes'

export const streamStates = ['ok', 'failing', 'off'] as const

const name = Line({ minLength: 1, maxLength: 100, description: 'What people know it by.' })
const url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Where the log is posted. https, unless the operator allows more.',
})
const actions = Nullable(Type.Array(Type.String(actionPattern), { minItems: 1, maxItems: 50, uniqueItems: true }), {
  description:
    'Only entries of these actions, or of those that begin so, such as `heartbeat.*`; null for all. A log with entries left out ' +
    'cannot be proven whole by who receives it.',
})
const active = Type.Boolean({ description: 'False stops it where it is; true again, it goes on from there.' })
const ownSecret = Type.String({
  maxLength: 200,
  description: 'A signing secret of your own: whsec_ and the padded base64 of 24 to 64 random bytes. Made for you when absent.',
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
  failing_since: null,
  next_attempt_at: null,
  secret_hint: 'whsec_…n2o=',
  next_secret_hint: null,
  overlap_ends_at: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
const members = {
  id: Type.String({ description: 'Identifier.' }),
  name: Type.String({ description: 'What people know it by.' }),
  url,
  actions,
  active,
  status: Words(streamStates, { description: '`failing`: the last try did, and it is tried again. `off`: it is switched off.' }),
  position: Type.Integer({ description: '`seq` of the entry up to which the receiver has the log.' }),
  lag: Type.Integer({ description: 'Entries of the log behind that.' }),
  last_success_at: MaybeInstant({ description: 'When the receiver last took a message.' }),
  last_error: Nullable(Type.String(), { description: 'Why the last try failed; null when it did not.' }),
  failing_since: MaybeInstant({ description: 'When the first of the tries in a row failed that did.' }),
  next_attempt_at: MaybeInstant({ description: 'When what failed is tried again.' }),
  secret_hint: Type.String({ description: 'The signing secret in masked form; during a rotation the old one.' }),
  next_secret_hint: Nullable(Type.String(), {
    description: 'While a rotation overlaps, the new secret in masked form; else null.',
  }),
  overlap_ends_at: MaybeInstant({ description: 'When the old secret ends; null when there is one secret only.' }),
  ...editable,
}
export const AuditStream = Shape(members, {
  $id: 'AuditStream',
  description: 'A URL that receives the audit log of the workspace.',
  examples: [example],
})
export const AuditStreamList = ListOf(AuditStream)
export const NewAuditStream = Shape(
  {
    ...members,
    secret: Type.Optional(Type.String({ description: 'The signing secret. Told once; keep it safe.' })),
    secret_shown_before: Type.Optional(Type.Boolean({ description: 'True in a replay, which does not tell the secret again.' })),
  },
  {
    $id: 'NewAuditStream',
    description: 'A stream with the secret that was just made for it.',
    examples: [{ ...example, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazcuYmxpn2o=' }],
  },
)
export const AuditStreamInput = Shape(
  {
    name,
    url,
    actions: Type.Optional(actions),
    active: Type.Optional(active),
    from: Type.Optional(
      Words(['now', 'beginning'], {
        default: 'now',
        description: 'Where it begins: with what is written from now on, or with the oldest entry that is kept.',
      }),
    ),
    secret: Type.Optional(ownSecret),
  },
  {
    $id: 'AuditStreamInput',
    description: 'A stream to make.',
    examples: [{ name: 'SIEM', url: 'https://siem.example.com/bailiwick', from: 'beginning' }],
  },
)
export const AuditStreamPatch = Shape(
  { name: Type.Optional(name), url: Type.Optional(url), actions: Type.Optional(actions), active: Type.Optional(active) },
  { $id: 'AuditStreamPatch', description: 'What of a stream can be changed.', examples: [{ active: false }] },
)
export const AuditStreamSecretRotation = Shape(
  {
    secret: Type.Optional(ownSecret),
    overlap_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 604_800,
        default: 86_400,
        description: 'How long the old secret goes on signing beside the new one; 0 ends it at once.',
      }),
    ),
  },
  {
    $id: 'AuditStreamSecretRotation',
    description: 'How to change the signing secret.',
    examples: [{ overlap_seconds: 86_400 }],
  },
)
export const AuditStreamTest = Shape(
  {
    delivered: Type.Boolean({ description: 'Whether the receiver took it.' }),
    status_code: Nullable(Type.Integer(), { description: 'How it answered; null when it did not.' }),
    error_class: Nullable(Type.String(), { description: 'What kind of failure it was; null when there was none.' }),
    error_message: Nullable(Type.String(), { description: 'The failure in words.' }),
    duration_ms: Type.Integer({ description: 'How long it took.' }),
  },
  {
    $id: 'AuditStreamTest',
    description: 'What came of a test message.',
    examples: [{ delivered: true, status_code: 204, error_class: null, error_message: null, duration_ms: 41 }],
  },
)
export type AuditStreamView = Static<typeof AuditStream>
export type AuditStreamInput = Static<typeof AuditStreamInput>
export type AuditStreamPatch = Static<typeof AuditStreamPatch>
export type AuditStreamSecretRotation = Static<typeof AuditStreamSecretRotation>
export type AuditStreamTest = Static<typeof AuditStreamTest>
