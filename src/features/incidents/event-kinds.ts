import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../../core/shapes'
import { coreKind, extensionKind } from '../../core/event-kinds'
import { Actor, At, IdOf, MaybeAt, MaybeText, Seconds, Text, Texts } from '../../core/event-fields'

const Monitor = Shape(
  {
    id: IdOf('mon', 'ID of the monitor.'),
    name: Text('Name of the monitor.'),
    type: Text('Check type: `http`, `tcp`, `dns`, …'),
    target: Text('Target of the check: a URL, `host:port`, a hostname, or a DNS name. For a group, its name.'),
    tags: Texts('Tags of the monitor.'),
    last_check_at: MaybeAt('When the monitor was last checked; null if never.'),
  },
  { description: 'The monitor.' },
)

const grace_seconds = Seconds('Grace period in seconds.')

const HeartbeatSchedule = Type.Union(
  [
    Shape(
      {
        kind: Type.Literal('period', { description: 'A ping at regular intervals.' }),
        period_seconds: Type.Integer({ minimum: 1, description: 'Maximum time between pings in seconds.' }),
        grace_seconds,
      },
      { description: 'Pings are expected at regular intervals.' },
    ),
    Shape(
      {
        kind: Words(['cron', 'calendar'], { description: 'A cron or systemd calendar schedule.' }),
        expression: Text('Cron expression with five fields, or systemd calendar events, one per line.'),
        timezone: Text('IANA time zone of the expression.'),
        grace_seconds,
      },
      { description: 'Pings are expected at certain times.' },
    ),
  ],
  { description: 'When pings are expected.' },
)

const Heartbeat = Shape(
  {
    id: IdOf('hb', 'ID of the heartbeat.'),
    name: Type.String({ description: 'Name of the heartbeat.' }),
    slug: Type.String({ description: 'Slug in ping URLs that use the ping key; empty if there is none.' }),
    tags: Texts('Tags of the heartbeat.'),
    last_ping_at: MaybeAt('When the last ping was received; null if never.'),
    expected_at: MaybeAt('When the next ping is or was expected; null if none is.'),
    down_at: MaybeAt(
      'When the heartbeat goes down unless it is pinged first. While it is down, when it went down. Null if it is not due to go down.',
    ),
    schedule: HeartbeatSchedule,
  },
  { description: 'The heartbeat.' },
)

const Probe = Shape(
  {
    id: IdOf('probe', 'ID of the probe.'),
    name: Text('Name of the probe.'),
    location: MaybeText('Location of the probe; null if none is set.'),
    last_seen_at: MaybeAt('When the probe last reported; null if never.'),
  },
  { description: 'The remote probe.' },
)

const Incident = Shape(
  {
    id: IdOf('inc', 'ID of the incident.'),
    status: Words(['open', 'acknowledged', 'resolved'], { description: 'Status of the incident.' }),
    severity: MaybeText('Severity of the incident; null if none is set.'),
    cause: MaybeText('Human-readable cause; null if unknown.'),
    started_at: At('Time of the first failure.'),
    confirmed_at: MaybeAt('When the failure was confirmed; null if it is not confirmed.'),
    resolved_at: MaybeAt('When the incident was resolved; null if it is not resolved.'),
  },
  { description: 'The incident.' },
)

/** Exactly one of the three is an object, the others are null. */
const subject = {
  monitor: Nullable(Monitor, { description: 'The affected monitor; null if the alert is about something else.' }),
  heartbeat: Nullable(Heartbeat, { description: 'The affected heartbeat; null if the alert is about something else.' }),
  probe: Nullable(Probe, { description: 'The affected remote probe; null if the alert is about something else.' }),
}

const statuses = ['new', 'up', 'degraded', 'down', 'maintenance', 'paused', 'unknown', 'grace', 'online', 'offline'] as const

const previous_status = Words(statuses, { description: 'Previous status.' })
const reason = Text('Reason: the error of the check, or a code such as `late`, `fail`, or `ping`.')

export const monitoringKinds = {
  alert: coreKind({
    kind: 'monitor.alert',
    area: 'monitoring',
    title: 'Monitoring alert',
    description: 'A monitor or heartbeat raised an alert. Recoveries are sent as `monitor.recovered`.',
    data: Shape({
      kind: Words(['monitor.down', 'monitor.degraded', 'heartbeat.missed', 'probe.offline'], {
        description:
          'Type of the alert. For `heartbeat.missed`, `reason` is `late`, `start_timeout`, or `fail`, which means that the job reported a failure.',
      }),
      status: Words(['down', 'degraded', 'offline'], { description: 'Current status.' }),
      previous_status,
      reason,
      ...subject,
      incident: Nullable(Incident, { description: 'The incident of the alert; null if there is none.' }),
    }),
    example: {
      kind: 'heartbeat.missed',
      status: 'down',
      previous_status: 'up',
      reason: 'late',
      monitor: null,
      heartbeat: {
        id: 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n',
        name: 'Example heartbeat',
        slug: 'example-heartbeat',
        tags: ['example'],
        last_ping_at: '2027-01-30T02:00:41.310Z',
        expected_at: '2027-01-31T02:00:00.000Z',
        down_at: '2027-01-31T02:30:00.000Z',
        schedule: { kind: 'cron', expression: '0 2 * * *', timezone: 'UTC', grace_seconds: 1800 },
      },
      probe: null,
      incident: null,
    },
  }),
  recovered: extensionKind({
    kind: 'monitor.recovered',
    area: 'monitoring',
    title: 'Monitoring recovery',
    description:
      'A monitor or heartbeat recovered after an alert. Not sent if it is paused, reset, or deleted while it is failing, which only resolves its incident.',
    data: Shape({
      kind: Words(['monitor.recovered', 'heartbeat.recovered', 'probe.online'], { description: 'Type of the recovery.' }),
      status: Words(['up', 'online'], { description: 'Current status.' }),
      previous_status,
      reason,
      ...subject,
      incident: Nullable(Incident, { description: 'The incident of the alert; null if there was none.' }),
      downtime_seconds: Seconds('Downtime in seconds.'),
    }),
    example: {
      kind: 'monitor.recovered',
      status: 'up',
      previous_status: 'down',
      reason: 'HTTP 200 in 84 ms',
      monitor: {
        id: 'mon_01k3zb5p7q9r1s3t5v7w9x1y3z',
        name: 'Example monitor',
        type: 'http',
        target: 'https://shop.example.com/',
        tags: ['example'],
        last_check_at: '2027-01-31T09:26:53.589Z',
      },
      heartbeat: null,
      probe: null,
      incident: {
        id: 'inc_01k3zb6a8b0c2d4e6f8g0h2j4k',
        status: 'resolved',
        severity: 'critical',
        cause: 'HTTP 503',
        started_at: '2027-01-31T09:20:30.112Z',
        confirmed_at: '2027-01-31T09:20:45.870Z',
        resolved_at: '2027-01-31T09:26:53.589Z',
      },
      downtime_seconds: 383,
    },
  }),
  acknowledged: extensionKind({
    kind: 'monitor.acknowledged',
    area: 'monitoring',
    title: 'Monitoring alert acknowledged',
    description: 'An alert was acknowledged.',
    data: Shape({
      ...subject,
      incident: Incident,
      acknowledged_by: Actor('Who acknowledged the alert.'),
      acknowledged_at: At('When the alert was acknowledged.'),
      note: MaybeText('Note added to the acknowledgement; null if none.'),
    }),
    example: {
      monitor: {
        id: 'mon_01k3zb5p7q9r1s3t5v7w9x1y3z',
        name: 'Example monitor',
        type: 'http',
        target: 'https://shop.example.com/',
        tags: ['example'],
        last_check_at: '2027-01-31T09:22:00.204Z',
      },
      heartbeat: null,
      probe: null,
      incident: {
        id: 'inc_01k3zb6a8b0c2d4e6f8g0h2j4k',
        status: 'acknowledged',
        severity: 'critical',
        cause: 'HTTP 503',
        started_at: '2027-01-31T09:20:30.112Z',
        confirmed_at: '2027-01-31T09:20:45.870Z',
        resolved_at: null,
      },
      acknowledged_by: { type: 'user', id: 'usr_01k3zb7m9n1p3q5r7s9t1v3w5x', name: 'Alice' },
      acknowledged_at: '2027-01-31T09:22:14.730Z',
      note: 'Looking into it.',
    },
  }),
} as const
