import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { severities } from '../../core/notices'
import {
  discriminator,
  editable,
  Instant,
  Line,
  ListOf,
  MaybeInstant,
  Nullable,
  Prose,
  Expanded,
  Shape,
  Tags,
  Words,
} from '../../core/shapes'
import { Incident } from '../incidents/shapes'
import { ChannelIds } from '../notifications/known-channels'

const Seconds = (minimum: number, description: string) => Type.Integer({ minimum, maximum: 365 * 86_400, description })
const grace_seconds = Seconds(1, 'How late a ping may be, and how long a started run may take, before the heartbeat is down.')
const Expression = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'IANA name of the time zone the expression is read in.',
})

export const Schedule = Type.Union(
  [
    Shape(
      { kind: Type.Literal('period'), period_seconds: Seconds(5, 'Longest time from one ping to the next.'), grace_seconds },
      { title: 'Period' },
    ),
    Shape(
      { kind: Type.Literal('cron'), expression: Expression('Cron expression of five words.'), timezone, grace_seconds },
      { title: 'Cron' },
    ),
    Shape(
      {
        kind: Type.Literal('calendar'),
        expression: Expression('Calendar events by systemd.time(7), one a line; the earliest counts.'),
        timezone,
        grace_seconds,
      },
      { title: 'Calendar' },
    ),
  ],
  {
    $id: 'Schedule',
    [discriminator]: 'kind',
    description: 'When pings are expected.',
    examples: [{ kind: 'period', period_seconds: 3600, grace_seconds: 300 }],
  },
)

const secret_shown_before = Type.Optional(Type.Boolean({ description: 'True in a replay, which does not tell secrets again.' }))

export const heartbeatStatuses = ['new', 'up', 'grace', 'down', 'paused'] as const

const name = Line({ minLength: 1, maxLength: 100, description: 'What the job is called.' })
const slug = Type.String({
  pattern: '^[a-z0-9_-]{0,100}$',
  'x-rule': 'must be made of at most 100 lower-case letters, digits, hyphens and underscores.',
  description: 'Name in the slug form of the ping address; empty for none. Made from the name when absent.',
})
const description = Prose({ maxLength: 5000, description: 'Notes for people.' })
const methods = Words(['any', 'POST'], { description: '`POST`: pings by other methods are recorded but do not count.' })
const manual_resume = Type.Boolean({ description: 'Whether a paused heartbeat stays paused when it is pinged.' })
const first_ping_within_seconds = Nullable(Type.Integer({ minimum: 1, maximum: 365 * 86_400 }), {
  description: 'Time for the first ping; null waits for it without an alert.',
})

const severity = Words(severities, { description: 'How grave the incidents are that it opens.' })

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
    id: Type.String({ description: 'Identifier.' }),
    name,
    slug,
    tags: Tags,
    description,
    status: Words(heartbeatStatuses, { description: '`new`: never pinged. `grace`: a ping is late, but within its grace time.' }),
    status_since_at: Instant({ description: 'Since when it has its status; `grace` counts as `up`.' }),
    started: Type.Boolean({ description: 'Whether a run has started and not finished.' }),
    schedule: Schedule,
    methods,
    manual_resume,
    first_ping_within_seconds,
    severity,
    channel_ids: ChannelIds,
    uuid: Nullable(Type.String(), { description: 'What the ping address is made of; null without `monitoring.write`.' }),
    ping_url: Nullable(Type.String(), { description: 'Address to ping; null without `monitoring.write`.' }),
    ping_count: Type.Integer({ description: 'Pings so far.' }),
    last_ping_at: MaybeInstant({ description: 'The last success or failure.' }),
    last_duration_ms: Nullable(Type.Integer(), { description: 'How long the last finished run took.' }),
    expected_at: MaybeInstant({ description: 'When the next ping is expected.' }),
    down_at: MaybeInstant({ description: 'When it is down unless a ping comes first; while down, when it went down.' }),
    ...editable,
    expanded: Expanded({ incident: Incident }),
    secret_shown_before,
  },
  { $id: 'Heartbeat', description: 'A job that is expected to ping.', examples: [example] },
)
export const HeartbeatList = ListOf(Heartbeat)

const inputExample = {
  name: 'nightly backup',
  tags: ['prod'],
  schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3600 },
}
export const HeartbeatInput = Shape(
  {
    name,
    schedule: Schedule,
    slug: Type.Optional(slug),
    tags: Type.Optional(Tags),
    description: Type.Optional(description),
    methods: Type.Optional(methods),
    manual_resume: Type.Optional(manual_resume),
    first_ping_within_seconds: Type.Optional(first_ping_within_seconds),
    severity: Type.Optional(severity),
    channel_ids: Type.Optional(ChannelIds),
  },
  { $id: 'HeartbeatInput', description: 'A heartbeat to make.', examples: [inputExample] },
)
const SchedulePatch = Shape(
  {
    kind: Type.Optional(
      Words(['period', 'cron', 'calendar'], { description: 'A new kind begins anew, but for the grace time.' }),
    ),
    period_seconds: Type.Optional(Nullable(Type.Integer())),
    expression: Type.Optional(Nullable(Type.String())),
    timezone: Type.Optional(Nullable(Type.String())),
    grace_seconds: Type.Optional(Nullable(Type.Integer())),
  },
  { description: 'Members of the schedule to change; what comes of it must be a schedule.' },
)

export const HeartbeatPatch = Shape(
  {
    name: Type.Optional(name),
    schedule: Type.Optional(SchedulePatch),
    slug: Type.Optional(Nullable(slug)),
    tags: Type.Optional(Nullable(Tags)),
    description: Type.Optional(Nullable(description)),
    methods: Type.Optional(Nullable(methods)),
    manual_resume: Type.Optional(Nullable(manual_resume)),
    first_ping_within_seconds: Type.Optional(first_ping_within_seconds),
    severity: Type.Optional(Nullable(severity)),
    channel_ids: Type.Optional(ChannelIds),
  },
  {
    $id: 'HeartbeatPatch',
    description: 'What of a heartbeat is to change; null is what a new heartbeat would have.',
    examples: [{ schedule: { grace_seconds: 60 } }],
  },
)

export const pingKinds = ['success', 'start', 'fail', 'log', 'ign'] as const
const pingMembers = {
  n: Type.Integer({ description: 'Number of the ping, counted from 1.' }),
  kind: Words(pingKinds, { description: '`ign`: recorded, not counted.' }),
  at: Instant({ description: 'When it came.' }),
  exit_status: Nullable(Type.Integer(), { description: 'Exit status it told.' }),
  duration_ms: Nullable(Type.Integer(), { description: 'Length of the run it ended.' }),
  rid: Nullable(Type.String(), { description: 'Id of the run.' }),
  source: Type.String({ description: 'Address it came from.' }),
  method: Type.String({ description: 'HTTP method.' }),
  user_agent: Type.String({ description: 'User agent, cut at 200 characters.' }),
  body_bytes: Type.Integer({ description: 'Length of the kept body.' }),
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
export const Ping = Shape(pingMembers, { $id: 'Ping', description: 'A ping that came.', examples: [pingExample] })
export const PingWithBody = Shape(
  { ...pingMembers, body: Type.String({ description: 'The body as UTF-8 text.' }) },
  { $id: 'PingWithBody', description: 'A ping with what it carried.', examples: [{ ...pingExample, body: 'all fine\n' }] },
)
export const PingList = ListOf(Ping)

const mostRecentHeartbeats = 100
export const recentPings = 30

export const RecentPingsQuery = Shape({
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: mostRecentHeartbeats,
    uniqueItems: true,
    description: 'Ids of heartbeats.',
  }),
})
export const RecentPingsList = Shape(
  {
    data: Type.Array(
      Shape({
        id: Type.String({ description: 'The heartbeat.' }),
        pings: Type.Array(
          Shape({ n: pingMembers.n, kind: pingMembers.kind, at: pingMembers.at, duration_ms: pingMembers.duration_ms }),
          { maxItems: recentPings, description: 'The last pings, oldest first.' },
        ),
      }),
      { description: 'Those of the ids that there are, in their order.' },
    ),
  },
  {
    $id: 'RecentPingsList',
    description: 'The last pings of some heartbeats.',
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
  kind: Words(['cron', 'calendar'], { description: 'Kind of the schedule.' }),
  expression: Expression('The expression, as in a schedule.'),
  timezone,
})
export const dueTimes = 5
export const DueTimes = Shape(
  {
    due_at: Type.Array(Instant({ description: 'A time at which a ping is expected.' }), {
      maxItems: dueTimes,
      description: 'The next ones, at most five.',
    }),
  },
  {
    $id: 'DueTimes',
    description: 'When pings are expected by a schedule.',
    examples: [{ due_at: ['2026-11-22T02:00:00.000Z', '2026-11-23T02:00:00.000Z'] }],
  },
)

export const Flip = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    at: Instant({ description: 'When the status changed.' }),
    from: Words(heartbeatStatuses, { description: 'Status before.' }),
    to: Words(heartbeatStatuses, { description: 'Status after.' }),
    reason: Words(['ping', 'fail', 'late', 'start_timeout', 'paused', 'resumed'], {
      description: '`late`: a ping was missed. `start_timeout`: a run did not finish in time.',
    }),
  },
  {
    $id: 'Flip',
    description: 'A change of status.',
    examples: [{ id: 'flip_01jd8f3q7eeb9bv0w0r8c7hq2m', at: '2026-11-21T03:00:04.113Z', from: 'up', to: 'down', reason: 'late' }],
  },
)
export const FlipList = ListOf(Flip)

export const PingKey = Shape(
  {
    ping_key: Nullable(Type.String(), { description: 'Key of the slug form.' }),
    ping_url: Nullable(Type.String(), { description: 'Address of the slug form; replace `<slug>`.' }),
    created_at: Instant({ description: 'When it was made.' }),
    secret_shown_before,
  },
  {
    $id: 'PingKey',
    description: 'The key for ping addresses by slug.',
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
    ok: Type.Literal(true),
    heartbeat_id: Type.String({ description: 'The heartbeat that was pinged.' }),
    created: Type.Boolean({ description: 'Whether the heartbeat was made by this ping.' }),
    n: Type.Integer({ description: 'Number of the ping.' }),
    kind: Words(pingKinds, { description: 'How it was taken.' }),
  },
  {
    $id: 'PingReceipt',
    description: 'A ping that was recorded.',
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
