import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { checkErrorKinds, checkTypeNames } from '../../checks/check'
import { maxConditionLength } from '../../checks/conditions/condition'
import { ConditionForm } from '../../checks/conditions/form'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { severities } from '../../core/notices'
import {
  editable,
  Expanded,
  Instant,
  Line,
  ListOf,
  NullableInstant,
  Nullable,
  Prose,
  Shape,
  Tags,
  Words,
} from '../../core/shapes'
import { Incident } from '../incidents/shapes'
import { ChannelIds } from '../notifications/shapes'

const minIntervalSeconds = 5
const maxIntervalSeconds = 86_400
const maxTimeoutSeconds = 60
/** Limits for `depends_on` and for the members of a group. */
const maxParents = 20
export const maxMembers = 500
/** Applies to each of `down_if` and `degraded_if`. */
export const maxConditions = 20

export const monitorTypes = [...checkTypeNames, 'server', 'group'] as const
export const monitorStatuses = ['new', 'up', 'degraded', 'down', 'maintenance', 'paused', 'unknown'] as const
/** The order of a list with problems first. The ranks are stored: a new status gets one in between, and a migration. */
const rankedStatuses: readonly (typeof monitorStatuses)[number][] = [
  'down',
  'degraded',
  'unknown',
  'new',
  'up',
  'maintenance',
  'paused',
]
export const statusRank = (status: (typeof monitorStatuses)[number]): number => rankedStatuses.indexOf(status)

const Count = (description: string) => Type.Integer({ minimum: 1, maximum: 20, description })
/** A schema for responses, and one for requests with its default, which depends on other fields. */
const withDefault = <S extends TSchema>(schema: S, text: string) => ({
  schema,
  input: { ...schema, description: `${schema.description} Default: ${text}.` } as S,
})
/** Conditions are stored as strings. Requests can contain them in parts too. */
const conditions = (description: string) =>
  ({
    schema: Type.Array(Type.String({ maxLength: maxConditionLength }), { maxItems: maxConditions, description }),
    input: Type.Array(Type.Union([Type.String({ minLength: 1, maxLength: maxConditionLength }), ConditionForm]), {
      maxItems: maxConditions,
      description,
    }),
    default: [],
    clearable: true,
  }) as const

/** The fields that mean the same for every type. Those without a `default` get one that depends on other fields. */
export const definitionMembers = members({
  key: {
    schema: Nullable(
      Type.String({
        pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,99}$',
        'x-rule': 'must start with a letter or digit and contain only letters, digits, and _ . : / -, up to 100 characters.',
      }),
      { description: 'Unique key within the workspace, for use in scripts and imports; null for none.' },
    ),
  },
  description: { schema: Prose({ maxLength: 5000, description: 'Free-form notes.' }), default: '', clearable: true },
  interval_seconds: {
    ...withDefault(
      Type.Integer({ minimum: minIntervalSeconds, maximum: maxIntervalSeconds, description: 'Time between checks, in seconds.' }),
      '60, or the shortest interval the plan allows',
    ),
    clearable: true,
  },
  timeout_seconds: {
    ...withDefault(
      Type.Integer({
        minimum: 1,
        maximum: maxTimeoutSeconds,
        description: 'How long a check may take before it fails, in seconds. Can’t exceed the interval.',
      }),
      '10, or the interval if that is shorter',
    ),
    clearable: true,
  },
  retry_interval_seconds: {
    ...withDefault(
      Type.Integer({
        minimum: 1,
        maximum: maxIntervalSeconds,
        description:
          'Time between checks while a failure or recovery is being confirmed, in seconds. The first retry runs after at most 2 seconds, even if this value is higher. Can’t exceed the interval.',
      }),
      '15, or the interval if that is shorter',
    ),
    clearable: true,
  },
  confirm: {
    schema: Count('Number of consecutive failed checks after which a location reports the monitor as down.'),
    default: 2,
    clearable: true,
  },
  recover: {
    schema: Count('Number of consecutive successful checks after which a location reports the monitor as up again.'),
    default: 2,
    clearable: true,
  },
  recovery_seconds: {
    ...withDefault(
      Type.Integer({
        minimum: 0,
        maximum: 3600,
        description:
          'How many seconds checks must keep passing, in addition to `recover`, before the monitor counts as recovered.',
      }),
      '0, or 60 with more than one location',
    ),
    clearable: true,
  },
  quorum: {
    schema: Type.Union(
      [Type.Literal('majority'), Type.Literal('any'), Type.Literal('all'), Type.Integer({ minimum: 1, maximum: 50 })],
      {
        description:
          'How many locations must report the monitor as down for it to be down, among those with recent results. `majority`: more than half. `any`: one. `all`: all. Or a fixed number.',
      },
    ),
    default: 'majority',
    clearable: true,
  },
  down_if: conditions('Conditions such as `[STATUS] >= 500`. A check fails if any of them is true.'),
  degraded_if: conditions(
    'Conditions such as `[RESPONSE_TIME] > 800`. If any of them is true, the result of a check is `degraded`, which counts as up.',
  ),
  degraded_ms: {
    schema: Nullable(Type.Integer({ minimum: 1, maximum: maxTimeoutSeconds * 1000 }), {
      description: 'Latency in milliseconds above which the result of a check is `degraded`; null for no threshold.',
    }),
  },
  locations: {
    schema: Type.Array(Words(['local'] as string[]), {
      minItems: 1,
      maxItems: 1,
      uniqueItems: true,
      description: 'Where checks run. `local` is the hub itself.',
    }),
    default: ['local'],
    clearable: true,
  },
  tags: { schema: Tags, default: [], clearable: true },
  depends_on: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: maxParents,
      uniqueItems: true,
      description:
        'IDs of monitors that this monitor depends on (keys, in imports and exports). While any of them is down, there are no alerts about this monitor.',
    }),
    default: [],
    clearable: true,
  },
  dependency_grace_seconds: {
    schema: Type.Integer({
      minimum: 0,
      maximum: 3600,
      description: 'Maximum delay of an alert in seconds, until it is confirmed that no monitor in `depends_on` is down.',
    }),
    default: 60,
    clearable: true,
  },
  severity: {
    schema: Words(severities, {
      description:
        'Severity of the incidents in which the monitor is down. While it is only degraded, `critical` incidents are opened as `warning`.',
    }),
    default: 'critical',
    clearable: true,
  },
  channel_ids: { schema: ChannelIds },
})

/** The fields that clients set. The columns and the fields of requests and responses are made from them. */
export const monitorMembers = members({
  name: {
    ...withDefault(Line({ minLength: 1, maxLength: 200, description: 'Display name.' }), 'derived from the target'),
    clearable: true,
  },
  target: {
    schema: Type.String({
      maxLength: 2048,
      description: 'What to check: a URL, `host:port`, a hostname, or a DNS name, depending on the type. Empty for a group.',
    }),
  },
  options: {
    schema: Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
      maxProperties: 100,
      description:
        'Settings of the check type. For the settings of each type, see `GET /v1/monitors/types`. Secrets are never returned.',
    }),
    clearable: true,
  },
  ...definitionMembers,
})

const phase = (description: string) => Nullable(Type.Number({ minimum: 0 }), { description })
export const resultMembers = {
  at: Instant({ description: 'When the check started.' }),
  status: Words(['up', 'degraded', 'down'], {
    description: 'Result of this check. The status of the monitor changes only when further checks confirm it.',
  }),
  error: Nullable(
    Shape({
      kind: Words(checkErrorKinds, { description: 'Kind of failure.' }),
      message: Type.String({ description: 'What was expected and what happened.' }),
    }),
    { description: 'Why the result is not `up`; null if it is.' },
  ),
  code: Nullable(Type.Integer(), {
    description: 'Status code of the response, such as an HTTP or SMTP status; null if there was none.',
  }),
  address: Nullable(Type.String(), { description: 'IP address the check connected to; null if there was none.' }),
  latency_ms: Nullable(Type.Number(), {
    description: 'Duration of the check in milliseconds, to one decimal place; null if it could not be measured.',
  }),
  phases: Shape(
    {
      dns_ms: phase('DNS lookup.'),
      connect_ms: phase('Connection to the server.'),
      tls_ms: phase('TLS handshake.'),
      first_byte_ms: phase('Time from sending the request to the first byte of the response.'),
    },
    { description: 'Duration of each phase in milliseconds, to one decimal place; null for a phase that did not happen.' },
  ),
  certificate_expires_at: NullableInstant({
    description: 'Earliest expiry of a certificate in the server’s chain; null if there was no certificate.',
  }),
}
const LastResult = Shape(resultMembers, {
  description:
    'Result of the most recent check, from the memory of this hub. Null before the first check, after a restart until the next one, and if another hub runs the monitor.',
})

const example = {
  id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m',
  type: 'http',
  name: 'Shop',
  key: 'shop',
  description: '',
  target: 'https://shop.example.com/',
  options: { accepted_status_codes: ['200-299'] },
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
    id: Type.String({ description: 'ID of the monitor.' }),
    type: Words(monitorTypes, { description: 'Check type. A `server` follows a server, and a `group` combines other monitors.' }),
    ...viewMembers(monitorMembers),
    secrets_set: Type.Array(Type.String(), {
      description: 'Paths within `options` of the secrets that are set. Their values are never returned.',
    }),
    status: Words(monitorStatuses, {
      description:
        'Current status. `new`: no confirmed result yet. `degraded`: responds, but not as it should; counts as up. `maintenance`: in a maintenance window. `unknown`: no recent results.',
    }),
    status_since_at: Instant({ description: 'When the monitor entered its current status.' }),
    flapping: Type.Boolean({ description: 'Whether the monitor changes status so often that its alerts are suppressed.' }),
    last_check_at: NullableInstant({
      description: 'When the monitor was last checked; null if never. For monitors run by another hub, this can lag by a minute.',
    }),
    next_check_at: NullableInstant({
      description: 'When the next check is due; null while the monitor is paused, or if another hub runs it.',
    }),
    last_result: Nullable(LastResult),
    ...editable,
    expanded: Expanded({ incident: Incident }),
  },
  { $id: 'Monitor', description: 'Something that is checked on a schedule, such as a website.', examples: [example] },
)
export const MonitorList = ListOf(Monitor)

export const MonitorInput = Shape(
  {
    type: Type.Optional(
      Words(monitorTypes, {
        description: 'Check type. Default: detected from the target, such as `http` for `https://…` and `tcp` for `host:port`.',
      }),
    ),
    ...inputMembers(monitorMembers),
    keyword: Type.Optional(
      Line({ minLength: 1, maxLength: 200, description: 'Text the response must contain. Stored as a condition in `down_if`.' }),
    ),
    invert_keyword: Type.Optional(
      Type.Boolean({ description: 'With `keyword`: whether the response must not contain it. Default: false.' }),
    ),
    json_query: Type.Optional(
      Shape(
        {
          path: Type.String({ minLength: 1, maxLength: 300, description: 'JSONPath into the response (RFC 9535).' }),
          op: Words(['==', '!=', '<', '<=', '>', '>=', 'contains'], { description: 'Comparison operator.' }),
          expected: Type.Union([Type.String({ maxLength: 300 }), Type.Number(), Type.Boolean()], {
            description: 'Expected value.',
          }),
        },
        { description: 'A value the JSON response must have. Stored as a condition in `down_if`.' },
      ),
    ),
  },
  {
    $id: 'MonitorInput',
    description: 'A monitor to create. Only `target` is required.',
    examples: [{ name: 'Shop', target: 'https://shop.example.com/', interval_seconds: 60, tags: ['prod'] }],
  },
)

export const MonitorPatch = Shape(patchMembers(monitorMembers), {
  $id: 'MonitorPatch',
  description: 'Fields to change. Set a field to null to reset it to its default. The type can’t be changed.',
  examples: [{ description: 'The shop as customers see it.' }],
})

export const MonitorCloneInput = Shape(
  {
    name: Type.Optional({
      ...monitorMembers.name.schema,
      description: 'Display name. Default: the name of the monitor with “(copy)” appended.',
    }),
  },
  { $id: 'MonitorCloneInput', description: 'Options for the copy.', examples: [{ name: 'Shop (copy)' }] },
)

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description })

export const MonitorSummary = Shape(
  {
    total: Type.Integer({ minimum: 0, description: 'Total number of monitors.' }),
    statuses: Counts('Number of monitors by status. Statuses without monitors are omitted.'),
    types: Counts('Number of monitors by type. Types without monitors are omitted.'),
    tags: Type.Array(
      Shape({
        tag: Type.String({ description: 'The tag.' }),
        monitors: Type.Integer({ minimum: 1, description: 'Number of monitors with the tag.' }),
      }),
      { description: 'Tags in use, in alphabetical order; the first 500.' },
    ),
  },
  {
    $id: 'MonitorSummary',
    description: 'Number of monitors by status, type, and tag.',
    examples: [{ total: 3, statuses: { up: 2, down: 1 }, types: { http: 3 }, tags: [{ tag: 'prod', monitors: 2 }] }],
  },
)
export type MonitorSummaryView = Static<typeof MonitorSummary>

export type MonitorView = Static<typeof Monitor>
export type MonitorInput = Static<typeof MonitorInput>
export type MonitorPatch = Static<typeof MonitorPatch>
