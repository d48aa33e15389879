import type { Static, TNull, TOptional, TSchema, TUnion } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { checkErrorKinds, checkTypeNames } from '../../checks/check'
import { longestCondition } from '../../checks/conditions/condition'
import { ConditionForm } from '../../checks/conditions/form'
import { editable, Expanded, Instant, Line, ListOf, MaybeInstant, Nullable, Prose, Shape, Tags, Words } from '../../core/shapes'
import { Incident } from '../incidents/shapes'
import { ChannelIds } from '../notifications/known-channels'
import { monitorStatuses, monitorTypes } from './tables'

export const leastIntervalSeconds = 5
export const mostIntervalSeconds = 86_400
export const mostTimeoutSeconds = 60
/** Monitors that one may depend on, and that a group may have. */
export const mostParents = 20
export const mostMembers = 500
/** Conditions of a level. */
export const mostConditions = 20

const Count = (description: string) => Type.Integer({ minimum: 1, maximum: 20, description })

const name = Line({ minLength: 1, maxLength: 200, description: 'What people call it. Made from the target when absent.' })
const key = Nullable(
  Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}$',
    'x-rule': 'must be letters, digits and _ . : / - from a letter or digit on, at most 100.',
  }),
  { description: 'A name for programs, unique in the workspace; null for none.' },
)
const description = Prose({ maxLength: 5000, description: 'Notes for people.' })
const target = Type.String({
  maxLength: 2048,
  description: 'What is checked: a URL, `host:port`, a host or a name, as its type wants it; empty for a group.',
})
const options = Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
  maxProperties: 100,
  description: 'Members of its type, which `GET /v1/monitors/types` tells; secrets among them are never shown.',
})
const interval_seconds = Type.Integer({
  minimum: leastIntervalSeconds,
  maximum: mostIntervalSeconds,
  description: 'Time from one check to the next; 60 when absent, or the least that the plan allows.',
})
const timeout_seconds = Type.Integer({
  minimum: 1,
  maximum: mostTimeoutSeconds,
  description: 'How long a check may take, at most its interval; 10 or the interval when absent.',
})
const retry_interval_seconds = Type.Integer({
  minimum: 1,
  maximum: mostIntervalSeconds,
  description:
    'Time between checks while a failure or a recovery is being confirmed, at most the interval; 15 or the interval when absent.',
})
const confirm = Count('Consecutive failures that make it down at a location; 2 when absent.')
const recover = Count('Consecutive successes that bring it up again; 2 when absent.')
const recovery_seconds = Type.Integer({
  minimum: 0,
  maximum: 3600,
  description: 'How long it must be well, over and above `recover`, to count as recovered; 0, or 60 with several locations.',
})
const quorum = Type.Union(
  [Type.Literal('majority'), Type.Literal('any'), Type.Literal('all'), Type.Integer({ minimum: 1, maximum: 50 })],
  { description: 'How many locations must find it down: more than half of those that answer lately, one, all, or a number.' },
)
const Conditions = (description: string) =>
  Type.Array(Type.String({ maxLength: longestCondition }), { maxItems: mostConditions, description })
const GivenConditions = (description: string) =>
  Type.Array(Type.Union([Type.String({ minLength: 1, maxLength: longestCondition }), ConditionForm]), {
    maxItems: mostConditions,
    description,
  })
const downIf = 'Conditions any of which makes it down.'
const degradedIf = 'Conditions any of which makes it degraded, which still counts as up.'
const degraded_ms = Nullable(Type.Integer({ minimum: 1, maximum: mostTimeoutSeconds * 1000 }), {
  description: 'A slower answer makes it degraded; null for none.',
})
const locations = Type.Array(Words(['local'] as string[]), {
  minItems: 1,
  maxItems: 1,
  uniqueItems: true,
  description: 'Where it is checked from: `local` is the hub itself.',
})
const MonitorId = Type.String({ minLength: 1, maxLength: 100 })
const depends_on = Type.Array(MonitorId, {
  maxItems: mostParents,
  uniqueItems: true,
  description: 'Monitors without which it cannot work: while one of them is down, it raises no alert of its own.',
})
const dependency_grace_seconds = Type.Integer({
  minimum: 0,
  maximum: 3600,
  description: 'How long its alert waits for a monitor it depends on to be found down as well; 60 when absent.',
})
const severity = Words(['info', 'warning', 'critical'], {
  description: 'How grave it is when it is down; `critical` when absent.',
})

const Phase = Nullable(Type.Number({ minimum: 0 }))
const resultMembers = {
  at: Instant({ description: 'When it began.' }),
  status: Words(['up', 'degraded', 'down'], { description: 'What it found, before it was confirmed.' }),
  error: Nullable(
    Shape({
      kind: Words(checkErrorKinds, { description: 'What kind of failure it is.' }),
      message: Type.String({ description: 'What was expected and what came.' }),
    }),
    { description: 'Why it is not `up`.' },
  ),
  code: Nullable(Type.Integer(), { description: 'Status code of the answer.' }),
  address: Nullable(Type.String(), { description: 'The address that was asked.' }),
  latency_ms: Nullable(Type.Number(), { description: 'How long the check took, in milliseconds to a tenth.' }),
  phases: Shape(
    { dns_ms: Phase, connect_ms: Phase, tls_ms: Phase, first_byte_ms: Phase },
    { description: 'How long each part took, in milliseconds to a tenth; null for a part that there was not.' },
  ),
  certificate_expires_at: MaybeInstant({ description: 'When the first certificate of the chain that the server sent ends.' }),
}
const LastResult = Shape(resultMembers, {
  description: 'The last check, from this hub’s memory; null before the first, and after a restart until the next.',
})

const example = {
  id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m',
  type: 'http',
  name: 'Shop',
  key: 'shop',
  description: '',
  target: 'https://shop.example.com/',
  options: { accepted_status: ['200-299'] },
  secrets_set: [],
  interval_seconds: 60,
  timeout_seconds: 10,
  retry_interval_seconds: 15,
  confirm: 2,
  recover: 2,
  recovery_seconds: 0,
  quorum: 'majority',
  down_if: ['not [BODY] == pat(*Welcome*)'],
  degraded_if: ['[CERTIFICATE_EXPIRATION] < 14d'],
  degraded_ms: 800,
  locations: ['local'],
  tags: ['prod'],
  depends_on: [],
  dependency_grace_seconds: 60,
  severity: 'critical',
  channel_ids: null,
  status: 'up',
  status_since_at: '2026-11-09T10:00:00.000Z',
  flapping: false,
  last_check_at: '2026-11-21T10:00:00.000Z',
  next_check_at: '2026-11-21T10:01:00.000Z',
  last_result: null,
  version: 1,
  created_at: '2026-11-09T10:00:00.000Z',
  updated_at: '2026-11-09T10:00:00.000Z',
}

export const Monitor = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    type: Words(monitorTypes, { description: 'What kind of check it is; a `group` is made of other monitors.' }),
    name,
    key,
    description,
    target,
    options,
    secrets_set: Type.Array(Type.String(), {
      description: 'Which secrets are set, as paths below `options`. Their values are never shown.',
    }),
    interval_seconds,
    timeout_seconds,
    retry_interval_seconds,
    confirm,
    recover,
    recovery_seconds,
    quorum,
    down_if: Conditions(downIf),
    degraded_if: Conditions(degradedIf),
    degraded_ms,
    locations,
    tags: Tags,
    depends_on,
    dependency_grace_seconds,
    severity,
    channel_ids: ChannelIds,
    status: Words(monitorStatuses, { description: '`new`: not checked yet. `unknown`: nobody could tell lately.' }),
    status_since_at: Instant({ description: 'Since when it has its status.' }),
    flapping: Type.Boolean({ description: 'Whether it goes up and down so often that its alerts are held back.' }),
    last_check_at: MaybeInstant({ description: 'When it was last checked; of checks by other hubs it may be a minute behind.' }),
    next_check_at: MaybeInstant({ description: 'When it is checked next; null where this hub does not check it.' }),
    last_result: Nullable(LastResult),
    ...editable,
    expanded: Expanded({ incident: Incident }),
  },
  { $id: 'Monitor', description: 'Something that is checked again and again.', examples: [example] },
)
export const MonitorList = ListOf(Monitor)

const members = {
  name,
  description,
  options,
  interval_seconds,
  timeout_seconds,
  retry_interval_seconds,
  confirm,
  recover,
  recovery_seconds,
  quorum,
  down_if: GivenConditions(downIf),
  degraded_if: GivenConditions(degradedIf),
  locations,
  tags: Tags,
  depends_on,
  dependency_grace_seconds,
  severity,
}
const mayBeNull = {
  key: Type.Optional(key),
  degraded_ms: Type.Optional(degraded_ms),
  channel_ids: Type.Optional(ChannelIds),
}

export const MonitorInput = Shape(
  {
    type: Type.Optional(
      Words(monitorTypes, { description: 'Told by the target when absent: `https://…` is `http`, `host:port` is `tcp`.' }),
    ),
    target: Type.Optional(target),
    ...optional(members),
    ...mayBeNull,
    keyword: Type.Optional(
      Line({ minLength: 1, maxLength: 200, description: 'A text that the answer must hold; becomes one of `down_if`.' }),
    ),
    invert_keyword: Type.Optional(Type.Boolean({ description: 'With `keyword`: the answer must not hold it.' })),
    json_query: Type.Optional(
      Shape(
        {
          path: Type.String({ minLength: 1, maxLength: 300, description: 'Where in the answer, as RFC 9535 writes it.' }),
          op: Words(['==', '!=', '<', '<=', '>', '>=', 'contains'], { description: 'How it is compared.' }),
          expected: Type.Union([Type.String({ maxLength: 300 }), Type.Number(), Type.Boolean()], {
            description: 'What it must be.',
          }),
        },
        { description: 'What the answer, which is JSON, must have; becomes one of `down_if`.' },
      ),
    ),
  },
  {
    $id: 'MonitorInput',
    description: 'A monitor to make. A target alone is enough.',
    examples: [{ name: 'Shop', target: 'https://shop.example.com/', interval_seconds: 60, tags: ['prod'] }],
  },
)

export const MonitorPatch = Shape(
  { target: Type.Optional(target), ...optional(nullable(members)), ...mayBeNull },
  {
    $id: 'MonitorPatch',
    description: 'What of a monitor is to change; null is what a new monitor would have. Its type stays.',
    examples: [{ description: 'The shop as customers see it.' }],
  },
)

export const MonitorClone = Shape(
  { name: Type.Optional(name) },
  { $id: 'MonitorClone', description: 'How the copy is called.', examples: [{ name: 'Shop (copy)' }] },
)

const CheckedNow = Shape(
  {
    ...resultMembers,
    certificate: Nullable(
      Shape({
        subject: Type.String({ description: 'Whose it is.' }),
        issuer: Type.String({ description: 'Who signed it.' }),
        names: Type.Array(Type.String(), { description: 'Names and addresses that it is for.' }),
        serial: Type.String({ description: 'Serial number, hexadecimal.' }),
        sha256: Type.String({ description: 'SHA-256 of it, hexadecimal.' }),
        valid_from_at: Instant({ description: 'When it begins.' }),
        valid_until_at: Instant({ description: 'When it ends.' }),
      }),
      { description: 'The certificate that the server showed; null where there is none.' },
    ),
    conditions: Type.Array(
      Shape({
        level: Words(['down', 'degraded'], { description: 'Of which list it is.' }),
        index: Type.Integer({ minimum: 0, description: 'Place in that list.' }),
        condition: Type.String({ description: 'As it is kept.' }),
        found: Type.String({ description: 'With the values that were found.' }),
      }),
      { description: 'Conditions that held against it.' },
    ),
    evidence: Nullable(
      Shape({
        request: Nullable(Type.String(), { description: 'What was asked, without secrets.' }),
        address: Nullable(Type.String(), { description: 'The address that was asked.' }),
        status: Nullable(Type.Integer(), { description: 'Status code of the answer.' }),
        headers: Nullable(Type.Record(Type.String(), Type.String()), { description: 'Its header fields.' }),
        body: Nullable(Type.String(), { description: 'Its body, 4 KiB at most.' }),
        body_truncated: Type.Boolean({ description: 'Whether there was more of it.' }),
        tls: Nullable(Shape({ version: Type.String(), cipher: Type.String() }), { description: 'What TLS agreed on.' }),
        dns: Nullable(Shape({ rcode: Type.String(), answers: Type.Array(Type.String()) }), { description: 'What DNS answered.' }),
      }),
      { description: 'What was asked and what came back, where it is not up; null from another hub.' },
    ),
  },
  { description: 'What was found; null where nothing came in time.' },
)
export const MonitorCheck = Shape(
  { monitor_id: Type.String({ description: 'The monitor.' }), result: Nullable(CheckedNow) },
  {
    $id: 'MonitorCheck',
    description: 'A check that was asked for.',
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

export const MonitorType = Shape(
  {
    type: Words([...checkTypeNames, 'group'], { description: 'Its name, as `type` of a monitor.' }),
    title: Type.String({ description: 'A few words.' }),
    description: Type.String({ description: 'What it checks, and when it calls that down.' }),
    target: Nullable(Type.String(), { description: 'What its target is, with an example; null for a group.' }),
    options: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of `options`.' }),
    secrets: Type.Array(Type.String(), { description: 'Secrets among the options, as JSON pointers below them.' }),
    sources: Type.Array(Type.String(), { description: 'What conditions can ask of it.' }),
  },
  {
    $id: 'MonitorType',
    description: 'A kind of check that this version knows.',
    examples: [
      {
        type: 'group',
        title: 'Group',
        description: 'Several monitors as one.',
        target: null,
        options: { type: 'object' },
        secrets: [],
        sources: [],
      },
    ],
  },
)
export const MonitorTypeList = Shape(
  { data: Type.Array(MonitorType) },
  { $id: 'MonitorTypeList', description: 'Every kind of check.' },
)

export const ProposalsQuery = Type.Object(
  {
    target: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'What was pasted: a URL, `host:port`, a name or an address.',
    }),
  },
  { additionalProperties: false },
)

const MonitorProposal = Shape({
  type: Words(monitorTypes, { description: 'How it could be checked.' }),
  title: Type.String({ description: 'That type in a few words.' }),
  target: Type.String({ description: 'Its target.' }),
  name: Type.String({ description: 'What it could be called.' }),
})
export type MonitorProposalView = Static<typeof MonitorProposal>

export const MonitorProposalList = Shape(
  { data: Type.Array(MonitorProposal, { description: 'The likeliest first; none for what is no target.' }) },
  {
    $id: 'MonitorProposalList',
    description: 'Monitors that could be made of something.',
    examples: [
      {
        data: [
          { type: 'http', title: 'HTTP(S)', target: 'https://shop.example.com/', name: 'shop.example.com' },
          { type: 'tls', title: 'TLS certificate', target: 'shop.example.com:443', name: 'shop.example.com' },
        ],
      },
    ],
  },
)

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description })

export const MonitorSummary = Shape(
  {
    total: Type.Integer({ minimum: 0, description: 'All of them.' }),
    statuses: Counts('How many have each status; one that none has is left out.'),
    types: Counts('How many are of each type; one that none is of is left out.'),
    tags: Type.Array(
      Shape({
        tag: Type.String({ description: 'The tag.' }),
        monitors: Type.Integer({ minimum: 1, description: 'How many have it.' }),
      }),
      { description: 'Tags that are in use, by the alphabet; the first 500.' },
    ),
  },
  {
    $id: 'MonitorSummary',
    description: 'How many monitors there are.',
    examples: [{ total: 3, statuses: { up: 2, down: 1 }, types: { http: 3 }, tags: [{ tag: 'prod', monitors: 2 }] }],
  },
)
export type MonitorSummaryView = Static<typeof MonitorSummary>

function optional<T extends Record<string, TSchema>>(of: T): { [K in keyof T]: TOptional<T[K]> } {
  return Object.fromEntries(Object.entries(of).map(([member, schema]) => [member, Type.Optional(schema)])) as never
}

function nullable<T extends Record<string, TSchema>>(of: T): { [K in keyof T]: TUnion<[T[K], TNull]> } {
  return Object.fromEntries(Object.entries(of).map(([member, schema]) => [member, Nullable(schema)])) as never
}

export type MonitorView = Static<typeof Monitor>
export type MonitorCheckView = Static<typeof MonitorCheck>
export type MonitorInput = Static<typeof MonitorInput>
export type MonitorPatch = Static<typeof MonitorPatch>
export type MonitorTypeView = Static<typeof MonitorType>
