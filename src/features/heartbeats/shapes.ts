import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { severities } from '../../core/notices'
import {
  discriminator,
  editable,
  Instant,
  Line,
  ListOf,
  NullableInstant,
  Nullable,
  Prose,
  Expanded,
  Shape,
  Tags,
  Words,
} from '../../core/shapes'
import { Incident } from '../incidents/shapes'
import { ChannelIds } from '../notifications/shapes'

const Seconds = (minimum: number, description: string) => Type.Integer({ minimum, maximum: 365 * 86_400, description })
const grace_seconds = Seconds(
  1,
  'Grace period in seconds: how late a ping may be, and how long a started run may take, before the heartbeat goes down.',
)
const Expression = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA time zone of the expression.',
})

export const Schedule = Type.Union(
  [
    Shape(
      {
        kind: Type.Literal('period', { description: 'A ping at regular intervals.' }),
        period_seconds: Seconds(5, 'Expected time between pings, in seconds.'),
        grace_seconds,
      },
      { $id: 'PeriodSchedule', description: 'Expects a ping at regular intervals.' },
    ),
    Shape(
      {
        kind: Type.Literal('cron', { description: 'A cron schedule.' }),
        expression: Expression('Cron expression with five fields: minute, hour, day, month, and weekday.'),
        timezone,
        grace_seconds,
      },
      { $id: 'CronSchedule', description: 'Expects pings at the times of a cron expression.' },
    ),
    Shape(
      {
        kind: Type.Literal('calendar', { description: 'A systemd calendar schedule.' }),
        expression: Expression(
          'Calendar events in the syntax of systemd.time(7), one per line. The next ping is expected at whichever comes first.',
        ),
        timezone,
        grace_seconds,
      },
      { $id: 'CalendarSchedule', description: 'Expects pings at the times of systemd calendar events.' },
    ),
  ],
  {
    $id: 'Schedule',
    [discriminator]: 'kind',
    description: 'When pings are expected.',
    examples: [{ kind: 'period', period_seconds: 3600, grace_seconds: 300 }],
  },
)

const secret_shown_before = Type.Optional(
  Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The secrets are then null.' }),
)

export const heartbeatStatuses = ['new', 'up', 'grace', 'down', 'paused'] as const

/** The fields that clients set. The columns and the fields of requests and responses are made from them. */
export const heartbeatMembers = members({
  name: {
    schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the heartbeat, usually the name of the job.' }),
    required: true,
  },
  slug: {
    schema: Type.String({
      pattern: '^[a-z0-9_-]{0,100}$',
      'x-rule': 'must be at most 100 lowercase letters, digits, hyphens, and underscores.',
      description:
        'Slug in ping URLs that use the ping key; empty for none. Default: derived from the name. If several heartbeats have the same slug, pings to ' +
        'it are rejected (409).',
    }),
    clearable: true,
  },
  tags: { schema: Tags, default: [], clearable: true },
  description: { schema: Prose({ maxLength: 5000, description: 'Notes about the job.' }), default: '', clearable: true },
  schedule: { schema: Schedule, required: true },
  methods: {
    schema: Words(['any', 'POST'], {
      description: 'HTTP methods that count as a ping. With `POST`, pings by other methods are recorded but ignored.',
    }),
    default: 'any',
    clearable: true,
  },
  manual_resume: {
    schema: Type.Boolean({
      description:
        'Whether a paused heartbeat remains paused until it is resumed manually; pings are then recorded, but have no effect. Otherwise, the next ping that reports a success or failure resumes it.',
    }),
    default: false,
    clearable: true,
  },
  first_ping_within_seconds: {
    schema: Nullable(Type.Integer({ minimum: 1, maximum: 365 * 86_400 }), {
      description:
        'Seconds after creation within which the first ping is expected; no grace period is added. Null: no alert is raised before the first ping.',
    }),
  },
  severity: {
    schema: Words(severities, { description: 'Severity of the incidents the heartbeat opens.' }),
    default: 'critical',
    clearable: true,
  },
  channel_ids: { schema: ChannelIds },
})

const example = {
  id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'nightly backup',
  slug: 'nightly-backup',
  tags: ['prod'],
  description: '',
  status: 'up',
  status_since_at: '2026-11-09T10:00:00.000Z',
  started: false,
  schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 },
  methods: 'any',
  manual_resume: false,
  first_ping_within_seconds: null,
  severity: 'critical',
  channel_ids: null,
  uuid: '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278',
  ping_url: 'https://hub.example.com/ping/5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278',
  ping_count: 12,
  last_ping_at: '2026-11-21T02:00:04.113Z',
  last_duration_ms: 41_000,
  expected_at: '2026-11-22T02:00:04.113Z',
  down_at: '2026-11-22T03:00:04.113Z',
  version: 1,
  created_at: '2026-11-09T10:00:00.000Z',
  updated_at: '2026-11-09T10:00:00.000Z',
}
export const Heartbeat = Shape(
  {
    id: Type.String({ description: 'ID of the heartbeat.' }),
    ...viewMembers(heartbeatMembers),
    status: Words(heartbeatStatuses, {
      description:
        '`new`: not pinged since it was created or resumed. `up`: pinged in time. `grace`: a ping is late, but still within the grace period. `down`: a ping was missed, a run did not finish in time, or the job reported a failure. `paused`: no pings are expected.',
    }),
    status_since_at: Instant({ description: 'When the status last changed. A change from `up` to `grace` doesn’t count.' }),
    started: Type.Boolean({ description: 'Whether a run was started and has not finished.' }),
    uuid: Nullable(Type.String(), {
      description: 'UUID in the ping URL; null if you don’t have the `monitoring.write` permission, and in replayed responses.',
    }),
    ping_url: Nullable(Type.String(), {
      description: 'URL to ping; null if you don’t have the `monitoring.write` permission, and in replayed responses.',
    }),
    ping_count: Type.Integer({ description: 'Number of pings received, of all kinds.' }),
    last_ping_at: NullableInstant({ description: 'When the last success or failure was reported; null if never.' }),
    last_duration_ms: Nullable(Type.Integer(), {
      description:
        'Duration of the last finished run in milliseconds; null if its start was not reported, or if it took 72 hours or longer.',
    }),
    expected_at: NullableInstant({ description: 'When the next ping is expected; null if none is expected.' }),
    down_at: NullableInstant({
      description:
        'When the heartbeat goes down unless it is pinged first. While it is down, when it went down. Null if it is not due to go down.',
    }),
    ...editable,
    expanded: Expanded({ incident: Incident }),
    secret_shown_before,
  },
  { $id: 'Heartbeat', description: 'Monitors a scheduled job, which is expected to send pings in time.', examples: [example] },
)
export const HeartbeatList = ListOf(Heartbeat)

const inputExample = {
  name: 'nightly backup',
  tags: ['prod'],
  schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 },
}
export const HeartbeatInput = Shape(inputMembers(heartbeatMembers), {
  $id: 'HeartbeatInput',
  description: 'A heartbeat to create.',
  examples: [inputExample],
})
const SchedulePatch = Shape(
  {
    kind: Type.Optional(
      Words(['period', 'cron', 'calendar'], { description: 'A new kind replaces the schedule, except for the grace period.' }),
    ),
    period_seconds: Type.Optional(
      Nullable(Type.Integer(), { description: 'Expected time between pings, in seconds: 5 to 31536000.' }),
    ),
    expression: Type.Optional(Nullable(Type.String(), { description: 'Cron expression or calendar events.' })),
    timezone: Type.Optional(Nullable(Type.String(), { description: 'IANA time zone of the expression.' })),
    grace_seconds: Type.Optional(Nullable(Type.Integer(), { description: 'Grace period in seconds: 1 to 31536000.' })),
  },
  { description: 'Fields of the schedule to update; null removes a field. The result must be a valid schedule.' },
)

export const HeartbeatPatch = Shape(
  { ...patchMembers(heartbeatMembers), schedule: Type.Optional(SchedulePatch) },
  {
    $id: 'HeartbeatPatch',
    description: 'Fields of a heartbeat to update. Null resets a field to its default.',
    examples: [{ schedule: { grace_seconds: 60 } }],
  },
)

export const pingKinds = ['success', 'start', 'fail', 'log', 'ign'] as const
const pingMembers = {
  n: Type.Integer({ description: 'Number of the ping, starting at 1.' }),
  kind: Words(pingKinds, {
    description:
      'What the ping reported. `success` and `fail`: the result of a run. `start`: the start of a run. `log`: a message that does not affect the status. `ign`: ignored, because the heartbeat accepts only POST.',
  }),
  at: Instant({ description: 'When the ping was received.' }),
  exit_status: Nullable(Type.Integer(), { description: 'Exit status that the ping reported, 0 to 255; null if none.' }),
  duration_ms: Nullable(Type.Integer(), {
    description:
      'Duration in milliseconds of the run that the ping ended; null if it ended none, or if the run took 72 hours or longer.',
  }),
  rid: Nullable(Type.String(), { description: 'UUID of the run, as sent in `rid`; null if none.' }),
  source: Type.String({ description: 'IP address of the client.' }),
  method: Type.String({ description: 'HTTP method of the ping.' }),
  user_agent: Type.String({ description: 'User-Agent header of the ping, truncated to 200 characters.' }),
  body_bytes: Type.Integer({ description: 'Size of the stored body in bytes.' }),
}
const pingExample = {
  n: 12,
  kind: 'success',
  at: '2026-11-21T02:00:04.113Z',
  exit_status: 0,
  duration_ms: 41_000,
  rid: null,
  source: '192.0.2.7',
  method: 'POST',
  user_agent: 'curl/8.5.0',
  body_bytes: 9,
}
const Ping = Shape(pingMembers, { $id: 'Ping', description: 'A ping of a heartbeat.', examples: [pingExample] })
export const PingWithBody = Shape(
  { ...pingMembers, body: Type.String({ description: 'Stored body, decoded as UTF-8.' }) },
  { $id: 'PingWithBody', description: 'A ping with its body.', examples: [{ ...pingExample, body: 'all fine\n' }] },
)
export const PingList = ListOf(Ping)

const maxRecentHeartbeats = 100
const maxRecentPings = 100
export const defaultRecentPings = 30

export const RecentPingsQuery = Shape({
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: maxRecentHeartbeats,
    uniqueItems: true,
    description: 'IDs of the heartbeats to return.',
  }),
  pings: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxRecentPings,
      default: defaultRecentPings,
      description: 'Number of pings to return for each heartbeat.',
    }),
  ),
})
export const RecentPingsList = Shape(
  {
    data: Type.Array(
      Shape({
        id: Type.String({ description: 'ID of the heartbeat.' }),
        pings: Type.Array(
          Shape({ n: pingMembers.n, kind: pingMembers.kind, at: pingMembers.at, duration_ms: pingMembers.duration_ms }),
          { maxItems: maxRecentPings, description: 'Most recent pings, oldest first.' },
        ),
      }),
      { description: 'The heartbeats in the order of `ids`. IDs that don’t exist are omitted.' },
    ),
  },
  {
    $id: 'RecentPingsList',
    description: 'Recent pings of the requested heartbeats.',
    examples: [
      {
        data: [
          {
            id: example.id,
            pings: [{ n: 12, kind: 'success', at: pingExample.at, duration_ms: 41_000 }],
          },
        ],
      },
    ],
  },
)

export const DueTimesQuery = Shape({
  kind: Words(['cron', 'calendar'], { description: 'Kind of schedule.' }),
  expression: Expression('Expression of the schedule.'),
  timezone,
})
export const maxDueTimes = 5
export const DueTimes = Shape(
  {
    due_at: Type.Array(Instant({ description: 'When a ping is expected.' }), {
      maxItems: maxDueTimes,
      description: 'The next times, up to five.',
    }),
  },
  {
    $id: 'DueTimes',
    description: 'The next times a schedule expects a ping.',
    examples: [{ due_at: ['2026-11-22T02:00:00.000Z', '2026-11-23T02:00:00.000Z'] }],
  },
)

const Flip = Shape(
  {
    id: Type.String({ description: 'ID of the status change.' }),
    at: Instant({ description: 'When the status changed.' }),
    from: Words(heartbeatStatuses, { description: 'Previous status. Never `grace`, which counts as `up` here.' }),
    to: Words(heartbeatStatuses, { description: 'New status. Never `grace`, which counts as `up` here.' }),
    reason: Words(['ping', 'fail', 'late', 'start_timeout', 'paused', 'resumed'], {
      description:
        'Why the status changed. `ping`: a ping reported a success. `fail`: a ping reported a failure. `late`: a ping was missed. `start_timeout`: a run did not finish in time. `paused`, `resumed`: by a user or token.',
    }),
  },
  {
    $id: 'Flip',
    description: 'A status change of a heartbeat.',
    examples: [{ id: 'flip_01jd8f3q7eeb9bv0w0r8c7hq2m', at: '2026-11-21T03:00:04.113Z', from: 'up', to: 'down', reason: 'late' }],
  },
)
export const FlipList = ListOf(Flip)

export const PingKey = Shape(
  {
    ping_key: Nullable(Type.String(), { description: 'Ping key of the workspace; null in replayed responses.' }),
    ping_url: Nullable(Type.String(), {
      description: 'Ping URL with a placeholder: replace `<slug>` with the slug of a heartbeat. Null in replayed responses.',
    }),
    created_at: Instant({ description: 'When the key was created.' }),
    secret_shown_before,
  },
  {
    $id: 'PingKey',
    description: 'The key for ping URLs with slugs.',
    examples: [
      {
        ping_key: 'u3Xh0mYt5Rr0C6m3kZx9bA',
        ping_url: 'https://hub.example.com/ping/u3Xh0mYt5Rr0C6m3kZx9bA/<slug>',
        created_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)

export const PingReceipt = Shape(
  {
    ok: Type.Literal(true, { description: 'Always true.' }),
    heartbeat_id: Type.String({ description: 'ID of the heartbeat.' }),
    created: Type.Boolean({ description: 'Whether this ping created the heartbeat.' }),
    n: Type.Integer({ description: 'Number of the ping, starting at 1.' }),
    kind: Words(pingKinds, {
      description:
        'What was recorded: the reported result, or `ign` if the ping was ignored because the heartbeat accepts only POST.',
    }),
  },
  {
    $id: 'PingReceipt',
    description: 'Confirmation of a recorded ping.',
    examples: [{ ok: true, heartbeat_id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m', created: false, n: 12, kind: 'success' }],
  },
)

export type HeartbeatView = Static<typeof Heartbeat>
export type HeartbeatInput = Static<typeof HeartbeatInput>
export type HeartbeatPatch = Static<typeof HeartbeatPatch>
export type PingView = Static<typeof Ping>
export type RecentPingsView = Static<typeof RecentPingsList>['data'][number]
export type DueTimesView = Static<typeof DueTimes>
export type PingWithBodyView = Static<typeof PingWithBody>
export type PingKeyView = Static<typeof PingKey>
export type FlipView = Static<typeof Flip>
export type PingReceipt = Static<typeof PingReceipt>
