import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { checkErrorKinds } from '../../../checks/check'
import { Instant, ListOf, Nullable, Shape, Words } from '../../../core/shapes'
import { monitorStatuses } from '../shapes'

const resultStatuses = ['up', 'degraded', 'down'] as const
const metrics = ['latency', 'dns', 'connect', 'tls', 'first_byte', 'availability'] as const
export type Metric = (typeof metrics)[number]
const ranges = ['24h', '7d', '30d', '90d', '365d'] as const
export const maxPoints = 1_500

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))
const location = Type.Optional(
  Type.String({ maxLength: 100, description: 'Only results from this location. Default: all locations.' }),
)

export const ResultsQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25, description: 'Number of results per page.' })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 1000,
        description: 'Cursor of the page to return: the `next_cursor` of the previous page. Default: the first page.',
      }),
    ),
    from: time('Only checks that started at or after this time.'),
    to: time('Only checks that started before this time.'),
    location,
    status: Type.Optional(
      Type.Array(Words(resultStatuses), { minItems: 1, maxItems: 3, description: 'Only results with these statuses.' }),
    ),
  },
  { additionalProperties: false },
)
export type ResultsQuery = Static<typeof ResultsQuery>

const Ms = (description: string) => Nullable(Type.Number({ minimum: 0 }), { description })

const MonitorResult = Shape(
  {
    at: Instant({ description: 'When the check started.' }),
    location: Type.String({ description: 'Location the check ran from.' }),
    status: Words(resultStatuses, {
      description: 'Outcome of this check. The monitor’s own status changes once the outcome is confirmed.',
    }),
    latency_ms: Ms('Duration of the check in milliseconds, to one decimal place; null if it could not be measured.'),
    code: Nullable(Type.Integer(), {
      description: 'Status code of the response, such as an HTTP or SMTP status; null if there was none.',
    }),
    error: Nullable(
      Shape({
        kind: Words(checkErrorKinds, { description: 'Kind of failure.' }),
        message: Type.String({ description: 'Error message, on one line.' }),
      }),
      { description: 'Why the result is not `up`; null if it is.' },
    ),
    phases: Shape(
      {
        dns_ms: Ms('DNS lookup.'),
        connect_ms: Ms('Connection to the server.'),
        tls_ms: Ms('TLS handshake.'),
        first_byte_ms: Ms('Time from sending the request to the first byte of the response.'),
      },
      {
        description:
          'Duration of each phase in milliseconds; null for a phase that did not happen, and for results before yesterday (UTC).',
      },
    ),
  },
  {
    $id: 'MonitorResult',
    description: 'The result of one check.',
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
        description: 'What to measure: total check duration, one phase of it, or availability. Default: `latency`.',
      }),
    ),
    from: time('Start of the window. Default: 24 hours before `to`.'),
    to: time('End of the window. Default: now.'),
    step: Type.Optional(
      Type.String({
        pattern: '^(auto|[1-9][0-9]{1,6})$',
        'x-rule': 'must be `auto` or a number of seconds, at least 10.',
        description:
          `Seconds per point, or \`auto\` (default) to choose a step that fits the window. At most ${maxPoints.toLocaleString('en-US')} points. Steps of an hour ` +
          'or more must be whole hours, and whole days if the window reaches back further than hourly data is kept.',
      }),
    ),
    location,
  },
  { additionalProperties: false },
)
export type SeriesQuery = Static<typeof SeriesQuery>

const Seconds = (description: string) => Type.Number({ minimum: 0, description })
const UptimeSeconds = Shape(
  {
    up: Seconds('Seconds up.'),
    degraded: Seconds('Seconds degraded. Counted as up.'),
    down: Seconds('Seconds down.'),
    maintenance: Seconds('Seconds in maintenance. Not counted.'),
    paused: Seconds('Seconds paused. Not counted.'),
    unknown: Seconds('Seconds without a known status, because no checks ran or none was confirmed yet. Not counted.'),
  },
  {
    $id: 'UptimeSeconds',
    description: 'Seconds spent in each status.',
    examples: [{ up: 86_000, degraded: 120, down: 280, maintenance: 0, paused: 0, unknown: 0 }],
  },
)
const uptime_percent = Nullable(Type.Number({ minimum: 0, maximum: 100 }), {
  description:
    'Time up or degraded as a percentage of time up, degraded, or down, rounded down to five decimal places. Null if there was no such time.',
})

const Point = Shape({
  at: Instant({ description: 'Start of the point.' }),
  n: Type.Integer({ minimum: 0, description: 'Number of checks in the point; 0 for `availability`.' }),
  min: Ms('Minimum duration; null for `availability`.'),
  avg: Ms('Mean duration; null for `availability`.'),
  max: Ms('Maximum duration; null for `availability`.'),
  p50: Ms('Median duration; null for `availability`.'),
  p95: Ms('95th percentile, accurate to within 10%; null for `availability`.'),
  p99: Ms('99th percentile, accurate to within 10%; null for `availability`.'),
  phases: Nullable(
    Shape({
      dns_ms: Ms('DNS lookup.'),
      connect_ms: Ms('Connection to the server.'),
      tls_ms: Ms('TLS handshake.'),
      first_byte_ms: Ms('Time from sending the request to the first byte of the response.'),
    }),
    { description: 'Mean duration of each phase; null for a phase that no check had. Null for metrics other than `latency`.' },
  ),
  uptime_percent,
  seconds: Nullable(UptimeSeconds, { description: 'Seconds spent in each status. Null for metrics other than `availability`.' }),
})
export const MonitorSeries = Shape(
  {
    metric: Words(metrics, { description: 'Metric of the series.' }),
    from_at: Instant({ description: 'Start of the first point.' }),
    to_at: Instant({ description: 'End of the window; the last point ends here at the latest.' }),
    step_seconds: Type.Integer({ description: 'Length of each point in seconds.' }),
    points: Type.Array(Point, {
      description: 'Points in chronological order. Points without checks are omitted, except for `availability`.',
    }),
  },
  {
    $id: 'MonitorSeries',
    description: 'A time series for charts. Durations are in milliseconds and cover checks that were not down.',
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
          '`24h` is the last 24 hours. The others are calendar days in the time zone, including today. Default: `30d`.',
      }),
    ),
    from: time('Start of the window. Can’t be combined with `range`. At most 1,100 days before `to`.'),
    to: time('End of the window. Only with `from`. Default: now.'),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'IANA time zone for `days` and `months`. Default: UTC.',
      }),
    ),
    objective: Type.Optional(
      Type.Number({
        minimum: 50,
        maximum: 99.9999,
        description: 'Uptime objective (SLO) in percent. Adds the error budget to the response.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type UptimeQuery = Static<typeof UptimeQuery>

const Budget = Shape({
  objective_percent: Type.Number({ description: 'Uptime objective in percent.' }),
  allowed_seconds: Seconds('Downtime the objective allows over the counted time.'),
  consumed_seconds: Seconds('Downtime so far.'),
  remaining_seconds: Type.Number({ description: 'Allowed downtime that is left. Negative once the objective is missed.' }),
  objective_met: Type.Boolean({ description: 'Whether the objective is met so far.' }),
})
const spans = { seconds: UptimeSeconds, uptime_percent }

export const MonitorUptime = Shape(
  {
    from_at: Instant({ description: 'Start of the window, but not before the monitor was created.' }),
    to_at: Instant({ description: 'End of the window, but not after the current time.' }),
    timezone: Type.String({ description: 'Time zone of `days` and `months`.' }),
    ...spans,
    outages: Type.Integer({
      minimum: 0,
      description: 'Number of outages. An outage that continues through maintenance counts once.',
    }),
    longest_outage_seconds: Nullable(Type.Number(), { description: 'Downtime of the longest outage; null if there was none.' }),
    mttr_seconds: Nullable(Type.Number(), {
      description: 'Mean time to recovery: downtime divided by the number of outages. Null if there were none.',
    }),
    mtbf_seconds: Nullable(Type.Number(), {
      description: 'Mean time between failures: uptime divided by the number of outages. Null if there were none.',
    }),
    latency: Shape(
      {
        n: Type.Integer({ description: 'Number of checks that were not down.' }),
        avg: Ms('Mean; null if `n` is 0.'),
        p50: Ms('Median; null if `n` is 0.'),
        p95: Ms('95th percentile; null if `n` is 0.'),
        p99: Ms('99th percentile; null if `n` is 0.'),
      },
      {
        description: 'Check durations in milliseconds, over whole hours, or over whole days where hourly data is no longer kept.',
      },
    ),
    error_budget: Nullable(Budget, { description: 'Error budget; null without `objective`.' }),
    days: Type.Array(Shape({ date: Type.String({ format: 'date', description: 'Day in the time zone.' }), ...spans }), {
      description: 'Each day of the window. The first and last day may be partial.',
    }),
    months: Type.Array(
      Shape({
        month: Type.String({ pattern: '^\\d{4}-\\d{2}$', description: 'Month in the time zone.' }),
        ...spans,
        error_budget: Nullable(Budget, { description: 'Error budget; null without `objective`.' }),
      }),
      { description: 'Each month of the window. The first and last month may be partial.' },
    ),
  },
  {
    $id: 'MonitorUptime',
    description: 'Uptime of a monitor, calculated from the time spent in each status.',
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
        error_budget: {
          objective_percent: 99.9,
          allowed_seconds: 36,
          consumed_seconds: 60,
          remaining_seconds: -24,
          objective_met: false,
        },
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
            error_budget: {
              objective_percent: 99.9,
              allowed_seconds: 36,
              consumed_seconds: 60,
              remaining_seconds: -24,
              objective_met: false,
            },
          },
        ],
      },
    ],
  },
)
export type UptimeView = Static<typeof MonitorUptime>

// Limits of one request for recent results: monitors, and results per monitor.
const maxRecentMonitors = 100
const maxRecentResults = 100
export const defaultRecentResults = 30

export const RecentQuery = Type.Object(
  {
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: maxRecentMonitors,
      uniqueItems: true,
      description: 'IDs of the monitors to return.',
    }),
    results: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: maxRecentResults,
        default: defaultRecentResults,
        description: 'Number of checks to return for each monitor.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type RecentQuery = Static<typeof RecentQuery>

export const MonitorRecentList = Shape(
  {
    data: Type.Array(
      Shape({
        id: Type.String({ description: 'ID of the monitor.' }),
        uptime_percent,
        results: Type.Array(
          Shape({
            at: Instant({ description: 'When the check started.' }),
            status: Words(resultStatuses, { description: 'Outcome of this check.' }),
            latency_ms: Ms('Duration of the check in milliseconds; null if it could not be measured.'),
          }),
          { maxItems: maxRecentResults, description: 'Most recent checks, oldest first. Empty for a group.' },
        ),
      }),
      { description: 'The monitors that exist, in the order of `ids`.' },
    ),
  },
  {
    $id: 'MonitorRecentList',
    description: 'Recent checks of the requested monitors, and their uptime over the last 24 hours.',
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

const MonitorTransition = Shape(
  {
    id: Type.String({ description: 'ID of the status change.' }),
    at: Instant({ description: 'When the status changed.' }),
    from: Words(monitorStatuses, { description: 'Previous status.' }),
    to: Words(monitorStatuses, { description: 'New status.' }),
    reason: Type.String({ description: 'Reason for the change, as a sentence.' }),
    incident_id: Nullable(Type.String(), {
      description: 'ID of the incident that the change opened, resolved, or belongs to; null if none.',
    }),
  },
  {
    $id: 'MonitorTransition',
    description: 'A status change of a monitor. Kept for as long as the monitor exists.',
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
