import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from '../shapes'
import { contractKind, extensionKind } from './entry'
import { Actor, At, IdOf, MaybeAt, MaybeText, Seconds, Text, Texts } from './members'

const Monitor = Shape(
  {
    id: IdOf('mon', 'Its id.'),
    name: Text('Its name.'),
    type: Text('Its check type: `http`, `tcp`, `dns`, …'),
    target: Text('What is checked: a URL, `host:port`, a host or a name.'),
    tags: Texts('Its tags.'),
    last_check_at: MaybeAt('When it was last checked.'),
  },
  { description: 'The monitor.' },
)

const grace_seconds = Seconds('How late a ping may be.')

const HeartbeatSchedule = Type.Union(
  [
    Shape(
      {
        kind: Type.Literal('period'),
        period_seconds: Type.Integer({ minimum: 1, description: 'Longest time from one ping to the next.' }),
        grace_seconds,
      },
      { description: 'A ping at least every so often.' },
    ),
    Shape(
      {
        kind: Words(['cron', 'calendar']),
        expression: Text('Cron expression of five words, or systemd calendar events, one a line.'),
        timezone: Text('IANA time zone the expression is read in.'),
        grace_seconds,
      },
      { description: 'A ping at certain times.' },
    ),
  ],
  { description: 'When pings are expected.' },
)

const Heartbeat = Shape(
  {
    id: IdOf('hb', 'Its id.'),
    name: Type.String({ description: 'Its name.' }),
    slug: Type.String({ description: 'Its slug.' }),
    tags: Texts('Its tags.'),
    last_ping_at: MaybeAt('When it was last pinged; null if never.'),
    expected_at: MaybeAt('When the next ping is, or was, expected.'),
    down_at: MaybeAt('When it counts, or counted, as down without a ping.'),
    schedule: HeartbeatSchedule,
  },
  { description: 'The heartbeat.' },
)

const Probe = Shape(
  {
    id: IdOf('probe', 'Its id.'),
    name: Text('Its name.'),
    location: MaybeText('Where it stands.'),
    last_seen_at: MaybeAt('When it last reported.'),
  },
  { description: 'The remote probe.' },
)

const Incident = Shape(
  {
    id: IdOf('inc', 'Its id.'),
    status: Words(['open', 'acknowledged', 'resolved'], { description: 'Where it stands.' }),
    severity: MaybeText('How grave it is.'),
    cause: MaybeText('What failed, in a sentence for a person.'),
    started_at: At('Time of the first failure.'),
    confirmed_at: MaybeAt('When the failure was confirmed.'),
    resolved_at: MaybeAt('When it was resolved.'),
  },
  { description: 'The incident.' },
)

/** One of the three is an object, the others are null. */
const subject = {
  monitor: Nullable(Monitor, { description: 'The monitor it is about, else null.' }),
  heartbeat: Nullable(Heartbeat, { description: 'The heartbeat it is about, else null.' }),
  probe: Nullable(Probe, { description: 'The remote probe it is about, else null.' }),
}

const statuses = ['new', 'up', 'degraded', 'down', 'maintenance', 'paused', 'unknown', 'grace', 'online', 'offline'] as const

const previous_status = Words(statuses, { description: 'How it was before.' })
const reason = Text('Why: the error of the check, or a word such as `late`, `fail`, `ping`.')

export const monitoringKinds = {
  alert: contractKind({
    kind: 'monitor.alert',
    area: 'monitoring',
    title: 'Monitoring alert',
    description: 'An alert was raised by a monitor, a heartbeat or a remote probe. Recoveries are never sent under this kind.',
    data: Shape({
      kind: Words(['monitor.down', 'monitor.degraded', 'heartbeat.missed', 'probe.offline'], { description: 'What was raised.' }),
      status: Words(['down', 'degraded', 'offline'], { description: 'How it is now.' }),
      previous_status,
      reason,
      ...subject,
      incident: Nullable(Incident, { description: 'The incident it belongs to; null when there is none.' }),
    }),
    example: {
      kind: 'heartbeat.missed',
      status: 'down',
      previous_status: 'up',
      reason: 'late',
      monitor: null,
      heartbeat: {
        id: 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n',
        name: 'Nightly backup',
        slug: 'nightly-backup',
        tags: ['backup', 'db'],
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
    description: 'What an alert was raised for is well again.',
    data: Shape({
      kind: Words(['monitor.recovered', 'heartbeat.recovered', 'probe.online'], { description: 'What recovered.' }),
      status: Words(['up', 'online'], { description: 'How it is now.' }),
      previous_status,
      reason,
      ...subject,
      incident: Nullable(Incident, { description: 'The incident it belonged to; null when there was none.' }),
      downtime_seconds: Seconds('How long it was not well.'),
    }),
    example: {
      kind: 'monitor.recovered',
      status: 'up',
      previous_status: 'down',
      reason: 'HTTP 200 in 84 ms',
      monitor: {
        id: 'mon_01k3zb5p7q9r1s3t5v7w9x1y3z',
        name: 'Shop',
        type: 'http',
        target: 'https://shop.example.com/',
        tags: ['shop'],
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
    description: 'Somebody took an alert on.',
    data: Shape({
      ...subject,
      incident: Incident,
      acknowledged_by: Actor('Who acknowledged it.'),
      acknowledged_at: At('When it was acknowledged.'),
      note: MaybeText('What was said with it.'),
    }),
    example: {
      monitor: {
        id: 'mon_01k3zb5p7q9r1s3t5v7w9x1y3z',
        name: 'Shop',
        type: 'http',
        target: 'https://shop.example.com/',
        tags: ['shop'],
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
