import { Type, type Static } from '@sinclair/typebox'
import { severities } from '../../core/notices'
import { editable, Line, ListOf, MaybeInstant, Nullable, Shape, Tags, Words } from '../../core/shapes'
import { channelKinds } from './channels'
import { topicWords } from './message-kinds'
import { Trouble } from './notification-shapes'
import { days } from './quiet-hours'
import { channelStates } from './tables'

const kinds = channelKinds.map(one => one.kind)
const settings = (description: string) => Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), { description })
const clock = (description: string) =>
  Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', 'x-rule': 'must be a time such as 22:30.', description })

const QuietHours = Shape(
  {
    timezone: Type.String({ minLength: 1, maxLength: 100, description: 'IANA name of the time zone, such as `Europe/Berlin`.' }),
    days: Type.Array(Words(days), { minItems: 1, maxItems: 7, uniqueItems: true, description: 'Days on which they begin.' }),
    from: clock('When they begin.'),
    to: clock('When they end; on the next day where it is not later than `from`.'),
    except_severity: Nullable(Words(severities), {
      description: 'What matters at least this much is sent all the same; null holds everything.',
    }),
  },
  { description: 'When messages are held, to be summed up at the end.' },
)

const members = {
  name: Line({ minLength: 1, maxLength: 100, description: 'Name, the only one among the channels of the workspace.' }),
  for_everything: Type.Boolean({
    description: 'Whether it takes what names no channels: incidents of monitors without any, and notices.',
  }),
  topics: Type.Array(Words(topicWords), {
    maxItems: 40,
    uniqueItems: true,
    description: 'What it takes of that: `incidents`, `notices`, or kinds of notices. Those who name it are not held to it.',
  }),
  min_severity: Words(severities, { description: 'What matters less is not sent.' }),
  tags: Type.Array(Tags.items, {
    maxItems: 20,
    uniqueItems: true,
    description: 'Takes only what is about something with one of these; all when empty. Those who name it are not held to it.',
  }),
  remind_every_seconds: Nullable(Type.Integer({ minimum: 60, maximum: 604_800 }), {
    description: 'Reminds of a problem that is neither over nor acknowledged; null does not.',
  }),
  most_reminders: Type.Integer({ minimum: 0, maximum: 1_000, description: 'Reminders of one problem at most.' }),
  quiet_hours: Nullable(QuietHours, { description: 'When messages are held; null for never.' }),
  group_seconds: Type.Integer({
    minimum: 0,
    maximum: 3_600,
    description: 'Seconds after a message in which others wait, to go out as one that lists them. 0 sends each alone.',
  }),
  active: Type.Boolean({ description: 'False switches it off.' }),
}

const example = {
  id: 'chan_01k3z8q4g7e2wv5m9x0c6hbtfn',
  kind: 'ntfy',
  name: 'Phone of the one on duty',
  settings: { server_url: 'https://ntfy.sh', topic: 'bailiwick-7f3a' },
  secrets_set: ['token'],
  for_everything: true,
  topics: ['incidents', 'notices'] as const,
  min_severity: 'info' as const,
  tags: [],
  remind_every_seconds: 1_800,
  most_reminders: 10,
  quiet_hours: {
    timezone: 'Europe/Berlin',
    days: ['mon', 'tue', 'wed', 'thu', 'fri'] as const,
    from: '22:00',
    to: '07:00',
    except_severity: 'critical' as const,
  },
  group_seconds: 10,
  active: true,
  status: 'enabled' as const,
  disabled_reason: null,
  failing: false,
  failing_since_at: null,
  last_error: null,
  last_sent_at: '2026-11-21T10:05:00.000Z',
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}

export const NotificationChannel = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    kind: Words(kinds, { description: 'How it tells, as listed at /v1/notification-channels/kinds.' }),
    ...members,
    settings: settings('What its kind wants to be told, but for secrets.'),
    secrets_set: Type.Array(Type.String(), {
      description: 'Paths of the secret settings that are kept. Values are shown nowhere.',
    }),
    status: Words(channelStates, { description: '`disabled` once the other side said that it is gone.' }),
    disabled_reason: Nullable(Type.String(), { description: 'What it said.' }),
    failing: Type.Boolean({ description: 'Whether the last try came to nothing.' }),
    failing_since_at: MaybeInstant({ description: 'Since when no try succeeded; null while it does well.' }),
    last_error: Trouble('Why the last try failed; null if it did not.'),
    last_sent_at: MaybeInstant({ description: 'When it last took a message.' }),
    ...editable,
  },
  { $id: 'NotificationChannel', description: 'A way by which people are told.', examples: [example] },
)
export const NotificationChannelList = ListOf(NotificationChannel)
export type NotificationChannelView = Static<typeof NotificationChannel>

const edits = Type.Partial(Type.Object(members)).properties

export const NotificationChannelInput = Shape(
  {
    ...edits,
    kind: Words(kinds, { description: 'How it is to tell, as listed at /v1/notification-channels/kinds.' }),
    name: members.name,
    settings: settings('What its kind wants to be told, secrets among it.'),
  },
  {
    $id: 'NotificationChannelInput',
    description: 'A channel to make.',
    examples: [
      {
        kind: 'ntfy',
        name: example.name,
        settings: { server_url: 'https://ntfy.example.com', topic: 'bailiwick-7f3a', token: 'tk_changeme9f2c41' },
      },
    ],
  },
)
export type NotificationChannelInput = Static<typeof NotificationChannelInput>

export const NotificationChannelPatch = Shape(
  {
    ...edits,
    settings: Type.Optional(
      settings(
        'Settings to change, merged into those there are. Secrets that are not named stay; null removes what may be absent.',
      ),
    ),
  },
  {
    $id: 'NotificationChannelPatch',
    description: 'What of a channel is to change.',
    examples: [{ min_severity: 'warning', group_seconds: 60 }],
  },
)
export type NotificationChannelPatch = Static<typeof NotificationChannelPatch>

export const NotificationChannelKind = Shape(
  {
    kind: Type.String({ description: 'Its name, as `kind` of a channel.' }),
    title: Type.String({ description: 'For people.' }),
    settings: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema 2020-12 of `settings`.' }),
    secrets: Type.Array(Type.String(), {
      description: 'Paths of what is sealed and never shown; `*` stands for each member.',
    }),
    destination: Type.Array(Type.String(), {
      description: 'Paths of what says where secrets go: with another value of one, secrets have to be given again.',
    }),
  },
  {
    $id: 'NotificationChannelKind',
    description: 'A way of telling people, and what it wants to know.',
    examples: [
      {
        kind: 'slack',
        title: 'Slack',
        settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        secrets: ['url'],
        destination: [],
      },
    ],
  },
)
export const NotificationChannelKindList = ListOf(NotificationChannelKind)
export type NotificationChannelKindView = Static<typeof NotificationChannelKind>

export const NotificationChannelTrial = Shape(
  {
    kind: Words(kinds, { description: 'How it is to tell, as listed at /v1/notification-channels/kinds.' }),
    name: Type.Optional(members.name),
    settings: settings('What its kind wants to be told, secrets among it.'),
  },
  {
    $id: 'NotificationChannelTrial',
    description: 'Settings to send a test by.',
    examples: [{ kind: 'ntfy', settings: { server_url: 'https://ntfy.example.com', topic: 'bailiwick-7f3a' } }],
  },
)
export type NotificationChannelTrial = Static<typeof NotificationChannelTrial>

export const NotificationChannelTried = Shape(
  {
    sent: Type.Boolean({ description: 'Whether the other side took it.' }),
    said: Nullable(Type.String(), { description: 'What it answered; null where it did not take it.' }),
    last_error: Trouble('Why it did not take it.'),
  },
  {
    $id: 'NotificationChannelTried',
    description: 'What came of a test.',
    examples: [{ sent: true, said: 'Message hS3a1', last_error: null }],
  },
)
export type NotificationChannelTried = Static<typeof NotificationChannelTried>

export const NotificationTopicList = ListOf(
  Shape(
    {
      topic: Type.String({ description: 'As a channel names it among its `topics`.' }),
      title: Type.String({ description: 'For people.' }),
      within: Nullable(Type.String(), { description: 'The topic that it is a part of; null for a whole one.' }),
    },
    {
      $id: 'NotificationTopic',
      description: 'What channels can be told of.',
      examples: [{ topic: 'dns_zone.drifted', title: 'A DNS zone was changed at its provider', within: 'notices' }],
    },
  ),
)
export type NotificationTopicView = Static<typeof NotificationTopicList>['data'][number]
