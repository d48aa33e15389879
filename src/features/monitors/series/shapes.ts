import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { checkErrorKinds } from '../../../checks/check'
import { Instant, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { monitorStatuses } from '../tables'

const resultStatuses = ['up', 'degraded', 'down'] as const
export const metrics = ['latency', 'dns', 'connect', 'tls', 'first_byte', 'availability'] as const
export type Metric = (typeof metrics)[number]
export const ranges = ['24h', '7d', '30d', '90d', '365d'] as const
/** Points that a series has at most. */
export const mostPoints = 1_500

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))
const location = Type.Optional(Type.String({ maxLength: 100, description: 'Only results of this location; of all when absent.' }))

export const ResultsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Items a page.' })),
    cursor: Type.Optional(Type.String({ maxLength: 1000, description: 'Where to go on: `next_cursor` of the page before.' })),
    from: time('Only results of checks that began at or after this time.'),
    to: time('Only results of checks that began before this time.'),
    location,
    status: Type.Optional(
      Type.Array(Words(resultStatuses), { minItems: 1, maxItems: 3, description: 'Only results of these statuses.' }),
    ),
  },
  { additionalProperties: false },
)
export type ResultsQuery = Static<typeof ResultsQuery>

const Ms = (description: string) => Nullable(Type.Number({ minimum: 0 }), { description })

export const MonitorResult = Shape(
  {
    at: Instant({ description: 'When the check began.' }),
    location: Type.String({ description: 'Where it was made.' }),
    status: Words(resultStatuses, {
      description: 'Of this check alone; the status of the monitor follows when it is confirmed.',
    }),
    latency_ms: Ms('How long the check took, to a tenth; null when it came to nothing.'),
    code: Nullable(Type.Integer(), { description: 'Status code of HTTP, SMTP and others that have one.' }),
    error: Nullable(
      Shape({
        kind: Words(checkErrorKinds, { description: 'What kept it from its answer, or was wrong with it.' }),
        message: Type.String({ description: 'One line for people.' }),
      }),
      { description: 'Why it is not up; null when it is.' },
    ),
    phases: Shape(
      {
        dns_ms: Ms('Looking the name up.'),
        connect_ms: Ms('The connection.'),
        tls_ms: Ms('The TLS handshake.'),
        first_byte_ms: Ms('From the request to the first octet of the answer.'),
      },
      { description: 'How long each part took; kept for today and yesterday, null afterwards.' },
    ),
  },
  {
    $id: 'MonitorResult',
    description: 'What one check came to.',
    examples: [
      {
        at: '2026-11-21T10:00:04.217Z',
        location: 'local',
        status: 'up',
        latency_ms: 84.3,
        code: 200,
        error: null,
        phases: { dns_ms: 0, connect_ms: 11.8, tls_ms: 30.2, first_byte_ms: 41.9 },
      },
    ],
  },
)
export const MonitorResultList = ListOf(MonitorResult)
export type ResultView = Static<typeof MonitorResult>

export const SeriesQuery = Type.Object(
  {
    metric: Type.Optional(
      Words(metrics, {
        description:
          'What is told: how long checks or a part of them took, or how much of the time it was up. `latency` when absent.',
      }),
    ),
    from: time('When it begins; a day before `to` when absent.'),
    to: time('When it ends; now when absent.'),
    step: Type.Optional(
      Type.String({
        pattern: '^(auto|[1-9][0-9]{1,6})$',
        'x-rule': 'must be `auto` or a number of seconds from 10 on.',
        description:
          `Seconds a point. \`auto\`, the default, takes what fits the window; ${mostPoints} points are the most. From an hour on ` +
          'whole hours, and whole days where the window goes back further than hours are kept.',
      }),
    ),
    location,
  },
  { additionalProperties: false },
)
export type SeriesQuery = Static<typeof SeriesQuery>

const Seconds = (description: string) => Type.Number({ minimum: 0, description })
export const UptimeSeconds = Shape(
  {
    up: Seconds('Up.'),
    degraded: Seconds('Degraded, which counts as up.'),
    down: Seconds('Down.'),
    maintenance: Seconds('In a maintenance window: not counted.'),
    paused: Seconds('Paused: not counted.'),
    unknown: Seconds('Not known, since nobody checked or nothing was confirmed yet: not counted.'),
  },
  {
    $id: 'UptimeSeconds',
    description: 'Seconds by what a monitor was shown as.',
    examples: [{ up: 86_000, degraded: 120, down: 280, maintenance: 0, paused: 0, unknown: 0 }],
  },
)
const uptime_percent = Nullable(Type.Number({ minimum: 0, maximum: 100 }), {
  description: 'Up and degraded over up, degraded and down, rounded down to five places; null where nothing of these was.',
})

const Point = Shape({
  at: Instant({ description: 'When it begins.' }),
  n: Type.Integer({ minimum: 0, description: 'Checks that are in it; 0 for `availability`.' }),
  min: Ms('The fastest.'),
  avg: Ms('The mean.'),
  max: Ms('The slowest.'),
  p50: Ms('Half of them took no longer.'),
  p95: Ms('95 of 100 took no longer; off by a tenth at most.'),
  p99: Ms('99 of 100 took no longer; off by a tenth at most.'),
  phases: Nullable(
    Shape({
      dns_ms: Ms('Looking the name up.'),
      connect_ms: Ms('The connection.'),
      tls_ms: Ms('The TLS handshake.'),
      first_byte_ms: Ms('From the request to the first octet of the answer.'),
    }),
    { description: 'For `latency` alone: the mean of each part, of all checks; null for one that none had.' },
  ),
  uptime_percent,
  seconds: Nullable(UptimeSeconds, { description: 'For `availability` alone.' }),
})
export const MonitorSeries = Shape(
  {
    metric: Words(metrics, { description: 'What is told.' }),
    from_at: Instant({ description: 'When the first point begins.' }),
    to_at: Instant({ description: 'When the last point ends, at the latest.' }),
    step_seconds: Type.Integer({ description: 'How long a point is.' }),
    points: Type.Array(Point, { description: 'One after the other; for times only those in which there were checks.' }),
  },
  {
    $id: 'MonitorSeries',
    description: 'How a monitor did over time. Times are of checks that were not down, in milliseconds.',
    examples: [
      {
        metric: 'latency',
        from_at: '2026-11-20T10:00:00.000Z',
        to_at: '2026-11-21T10:00:00.000Z',
        step_seconds: 300,
        points: [
          {
            at: '2026-11-20T10:00:00.000Z',
            n: 10,
            min: 71.2,
            avg: 84.3,
            max: 120.5,
            p50: 83.4,
            p95: 118,
            p99: 120.5,
            phases: { dns_ms: 0.4, connect_ms: 11.8, tls_ms: 30.2, first_byte_ms: 41.9 },
            uptime_percent: null,
            seconds: null,
          },
        ],
      },
    ],
  },
)
export type SeriesView = Static<typeof MonitorSeries>
export type PointView = SeriesView['points'][number]

export const UptimeQuery = Type.Object(
  {
    range: Type.Optional(
      Words(ranges, {
        description:
          '`24h` is the last 24 hours; the others are so many days of the time zone, today among them. `30d` when absent.',
      }),
    ),
    from: time('When the window begins, instead of `range`.'),
    to: time('When it ends; now when absent.'),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'IANA name of the zone whose days and months are told; UTC when absent.',
      }),
    ),
    objective: Type.Optional(
      Type.Number({ minimum: 50, maximum: 99.9999, description: 'Percent of uptime that was promised: adds the error budget.' }),
    ),
  },
  { additionalProperties: false },
)
export type UptimeQuery = Static<typeof UptimeQuery>

const Budget = Shape({
  objective_percent: Type.Number({ description: 'What was promised.' }),
  allowed_seconds: Seconds('Down time that it allows, of the time that was seen.'),
  spent_seconds: Seconds('Down time that there was.'),
  left_seconds: Type.Number({ description: 'What is left; below zero when the promise is broken.' }),
  met: Type.Boolean({ description: 'Whether it is kept so far.' }),
})
const spans = { seconds: UptimeSeconds, uptime_percent }

export const MonitorUptime = Shape(
  {
    from_at: Instant({ description: 'When the window begins, at the earliest when the monitor was made.' }),
    to_at: Instant({ description: 'When it ends, at the latest now.' }),
    timezone: Type.String({ description: 'Of the days and months.' }),
    ...spans,
    outages: Type.Integer({ minimum: 0, description: 'How often it was down. One that goes on through maintenance is one.' }),
    longest_outage_seconds: Nullable(Type.Number(), { description: 'Down time of the longest; null without one.' }),
    mttr_seconds: Nullable(Type.Number(), { description: 'Mean time to recovery: down time over outages.' }),
    mtbf_seconds: Nullable(Type.Number(), { description: 'Mean time between failures: time up over outages.' }),
    latency: Shape(
      {
        n: Type.Integer({ description: 'Checks that were not down.' }),
        avg: Ms('The mean.'),
        p50: Ms('p50.'),
        p95: Ms('p95.'),
        p99: Ms('p99.'),
      },
      { description: 'Milliseconds, over whole hours; over whole days where hours are no longer kept.' },
    ),
    error_budget: Nullable(Budget, { description: 'With `objective`.' }),
    days: Type.Array(Shape({ date: Type.String({ format: 'date', description: 'Day of the zone.' }), ...spans }), {
      description: 'Each day of the window, the first and the last cut to it.',
    }),
    months: Type.Array(
      Shape({
        month: Type.String({ pattern: '^\\d{4}-\\d{2}$', description: 'Month of the zone.' }),
        ...spans,
        error_budget: Nullable(Budget, { description: 'With `objective`.' }),
      }),
      { description: 'Each month of the window, the first and the last cut to it.' },
    ),
  },
  {
    $id: 'MonitorUptime',
    description: 'How much of the time a monitor was up, by what it was shown as, second by second.',
    examples: [
      {
        from_at: '2026-11-21T00:00:00.000Z',
        to_at: '2026-11-21T10:00:00.000Z',
        timezone: 'UTC',
        seconds: { up: 35_940, degraded: 0, down: 60, maintenance: 0, paused: 0, unknown: 0 },
        uptime_percent: 99.83333,
        outages: 1,
        longest_outage_seconds: 60,
        mttr_seconds: 60,
        mtbf_seconds: 35_940,
        latency: { n: 1198, avg: 84.3, p50: 83.4, p95: 118, p99: 140.3 },
        error_budget: { objective_percent: 99.9, allowed_seconds: 36, spent_seconds: 60, left_seconds: -24, met: false },
        days: [
          {
            date: '2026-11-21',
            seconds: { up: 35_940, degraded: 0, down: 60, maintenance: 0, paused: 0, unknown: 0 },
            uptime_percent: 99.83333,
          },
        ],
        months: [
          {
            month: '2026-11',
            seconds: { up: 35_940, degraded: 0, down: 60, maintenance: 0, paused: 0, unknown: 0 },
            uptime_percent: 99.83333,
            error_budget: { objective_percent: 99.9, allowed_seconds: 36, spent_seconds: 60, left_seconds: -24, met: false },
          },
        ],
      },
    ],
  },
)
export type UptimeView = Static<typeof MonitorUptime>

/** Monitors whose recent results are told at once, and how many of each. */
export const mostRecentMonitors = 100
export const recentResults = 30

export const RecentQuery = Type.Object(
  {
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: mostRecentMonitors,
      uniqueItems: true,
      description: 'Ids of monitors.',
    }),
  },
  { additionalProperties: false },
)
export type RecentQuery = Static<typeof RecentQuery>

export const MonitorRecentList = Shape(
  {
    data: Type.Array(
      Shape({
        id: Type.String({ description: 'The monitor.' }),
        uptime_percent,
        results: Type.Array(
          Shape({
            at: Instant({ description: 'When the check began.' }),
            status: Words(resultStatuses, { description: 'Of this check alone.' }),
            latency_ms: Ms('How long it took.'),
          }),
          { maxItems: recentResults, description: 'The last checks, oldest first; none of a group.' },
        ),
      }),
      { description: 'Those of the ids that there are, in their order.' },
    ),
  },
  {
    $id: 'MonitorRecentList',
    description: 'How some monitors did lately: their last checks, and the uptime of the last 24 hours.',
    examples: [
      {
        data: [
          {
            id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m',
            uptime_percent: 99.93055,
            results: [{ at: '2026-11-21T10:00:04.217Z', status: 'up', latency_ms: 84.3 }],
          },
        ],
      },
    ],
  },
)
export type RecentView = Static<typeof MonitorRecentList>['data'][number]

export const MonitorTransition = Shape(
  {
    id: Type.String({ description: 'Names it.' }),
    at: Instant({ description: 'When it was shown so.' }),
    from: Words(monitorStatuses, { description: 'What it was shown as before.' }),
    to: Words(monitorStatuses, { description: 'What it was shown as from then on.' }),
    reason: Type.String({ description: 'Why, in a sentence.' }),
    incident_id: Nullable(Type.String(), { description: 'The incident that it opened, resolved or belongs to.' }),
  },
  {
    $id: 'MonitorTransition',
    description: 'A change of what a monitor is shown as. Kept as long as the monitor.',
    examples: [
      {
        id: 'mtr_01kaj9x2m4e8r9t0v1w2x3y4z5',
        at: '2026-11-21T10:00:34.100Z',
        from: 'up',
        to: 'down',
        reason: 'The connection was refused.',
        incident_id: 'inc_01kaj9x2m4e8r9t0v1w2x3y4z5',
      },
    ],
  },
)
export const MonitorTransitionList = ListOf(MonitorTransition)
export type TransitionView = Static<typeof MonitorTransition>
