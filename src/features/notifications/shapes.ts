import { Type, type Static } from '@sinclair/typebox'
import { accountFields, accountInput, accountPatch } from '../../adapters/accounts/shapes'
import { kindFields } from '../../adapters/kinds'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { severities } from '../../core/notices'
import { editable, ListOf, SinglePageOf, NullableInstant, Nullable, Shape, Tags, Words } from '../../core/shapes'
import { channelKinds } from './channels'
import { topicChoices, topicNames } from './message-kinds'
import { LastErrorShape } from './log/shapes'
import { days } from './delivery/quiet-hours'

const kinds = channelKinds.map(one => one.kind)
const listedAt = '/v1/notification-channels/kinds'
const input = accountInput(kinds, listedAt)
const { settings, secrets_set } = accountFields(kinds, listedAt)
const timeOfDay = (description: string) =>
  Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', 'x-rule': 'must be a time such as 22:30.', description })

const QuietHours = Shape(
  {
    timezone: Type.String({ minLength: 1, maxLength: 100, description: 'IANA time zone name, such as `Europe/Berlin`.' }),
    days: Type.Array(Words(days), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
      description: 'Days on which quiet hours start.',
    }),
    from: timeOfDay('Start time.'),
    to: timeOfDay('End time; on the next day if it is not later than `from`.'),
    except_severity: Nullable(Words(severities), {
      description: 'Messages of at least this severity are sent anyway; null holds everything.',
    }),
  },
  { description: 'Hours during which messages are held. They are sent as one summary at the end.' },
)

export const channelStatuses = ['unverified', 'enabled', 'disabled'] as const

/**
 * The members that clients set, in addition to those of every account. The columns and the fields of requests and responses are made
 * from them.
 */
export const channelMembers = members({
  is_default: {
    schema: Type.Boolean({
      description:
        'Whether this is a default channel, which is notified about notices and about resources without channels of their own.',
    }),
    default: true,
  },
  topics: {
    schema: Type.Array(Words(topicChoices), {
      maxItems: 100,
      uniqueItems: true,
      description:
        'What a default channel notifies about: `incidents`, `notices`, or kinds of notices. Ignored for resources that select the channel.',
    }),
    default: [...topicNames],
  },
  min_severity: {
    schema: Words(severities, { description: 'Minimum severity. Messages of lower severity are not sent.' }),
    default: 'info',
  },
  tags: {
    schema: Type.Array(Tags.items, {
      maxItems: 20,
      uniqueItems: true,
      description:
        'A default channel only notifies about resources with one of these tags; empty for all. Ignored for resources that select the channel.',
    }),
    default: [],
  },
  remind_every_seconds: {
    schema: Nullable(Type.Integer({ minimum: 60, maximum: 604_800 }), {
      description: 'Seconds between reminders of a problem that is neither resolved nor acknowledged; null for no reminders.',
    }),
  },
  max_reminders: {
    schema: Type.Integer({ minimum: 0, maximum: 1_000, description: 'Maximum number of reminders per problem.' }),
    default: 10,
  },
  quiet_hours: {
    schema: Nullable(QuietHours, { description: 'Quiet hours, in which notifications are held until they end; null for none.' }),
  },
  group_seconds: {
    schema: Type.Integer({
      minimum: 0,
      maximum: 3_600,
      description:
        'Notifications within this many seconds after a message are combined into the next message. 0 sends each notification separately.',
    }),
    default: 10,
  },
  active: {
    schema: Type.Boolean({
      description: 'Whether the channel sends messages. Setting it to false cancels pending notifications.',
    }),
    default: true,
  },
})

const example = {
  id: 'chan_01k3z8q4g7e2wv5m9x0c6hbtfn',
  kind: 'ntfy',
  name: 'On-call phone',
  settings: { server_url: 'https://ntfy.sh', topic: 'bailiwick-7f3a' },
  secrets_set: ['token'],
  is_default: true,
  topics: ['incidents', 'notices'] as const,
  min_severity: 'info' as const,
  tags: [],
  remind_every_seconds: 1_800,
  max_reminders: 10,
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
    id: Type.String({ description: 'ID of the channel.' }),
    kind: input.kind,
    name: input.name,
    ...viewMembers(channelMembers),
    settings,
    secrets_set,
    status: Words(channelStatuses, {
      description:
        '`unverified`: no message has been sent with the current settings yet. `enabled`: at least one message has been sent. `disabled`: ' +
        'the destination no longer exists or rejected the credentials.',
    }),
    disabled_reason: Nullable(Type.String(), {
      description: 'Why the channel was disabled, as a sentence; null if it is not disabled.',
    }),
    failing: Type.Boolean({
      description: 'Whether the last attempt failed, in any `status`. Test messages that fail don’t count.',
    }),
    failing_since_at: NullableInstant({ description: 'When attempts started failing; null if the last attempt succeeded.' }),
    last_error: LastErrorShape('Error of the last attempt; null if it succeeded.'),
    last_sent_at: NullableInstant({ description: 'When a message was last sent; null if never.' }),
    ...editable,
  },
  {
    $id: 'NotificationChannel',
    description: 'A destination for notifications, such as a mailbox, a chat, or a phone.',
    examples: [example],
  },
)
export const NotificationChannelList = ListOf(NotificationChannel)
export type NotificationChannelView = Static<typeof NotificationChannel>

export const NotificationChannelInput = Shape(
  { ...input, ...inputMembers(channelMembers) },
  {
    $id: 'NotificationChannelInput',
    description: 'A channel to create.',
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
  { ...accountPatch, ...patchMembers(channelMembers) },
  {
    $id: 'NotificationChannelPatch',
    description: 'Fields of the channel to update.',
    examples: [{ min_severity: 'warning', group_seconds: 60 }],
  },
)
export type NotificationChannelPatch = Static<typeof NotificationChannelPatch>

const NotificationChannelKindInfo = Shape(kindFields, {
  $id: 'NotificationChannelKindInfo',
  description: 'A kind of notification channel.',
  examples: [
    {
      kind: 'slack',
      title: 'Slack',
      settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
      secrets: ['url'],
      destination: [],
    },
  ],
})
export const NotificationChannelKindInfoList = SinglePageOf(NotificationChannelKindInfo)
export type NotificationChannelKindView = Static<typeof NotificationChannelKindInfo>

export const NotificationChannelTestInput = Shape(
  {
    ...input,
    name: { ...accountPatch.name, description: 'Name of the channel in the test message. Default: the title of the kind.' },
  },
  {
    $id: 'NotificationChannelTestInput',
    description: 'Settings to send a test message with.',
    examples: [{ kind: 'ntfy', settings: { server_url: 'https://ntfy.example.com', topic: 'bailiwick-7f3a' } }],
  },
)
export type NotificationChannelTestInput = Static<typeof NotificationChannelTestInput>

export const NotificationChannelTestResult = Shape(
  {
    sent: Type.Boolean({ description: 'Whether the test message was sent.' }),
    response: Nullable(Type.String(), { description: 'Response of the destination; null if sending failed.' }),
    error: LastErrorShape('Why sending failed; null if it succeeded.'),
  },
  {
    $id: 'NotificationChannelTestResult',
    description: 'Result of a test message.',
    examples: [{ sent: true, response: 'Message hS3a1', error: null }],
  },
)
export type NotificationChannelTestResult = Static<typeof NotificationChannelTestResult>

export const NotificationTopicList = SinglePageOf(
  Shape(
    {
      topic: Type.String({ description: 'Name of the topic, as used in `topics` of a channel.' }),
      title: Type.String({ description: 'Display name.' }),
      parent: Nullable(Type.String(), { description: 'Topic that includes this one; null for a top-level topic.' }),
    },
    {
      $id: 'NotificationTopic',
      description: 'A topic that channels can subscribe to.',
      examples: [{ topic: 'dns_zone.drifted', title: 'DNS zone changed at its provider', parent: 'notices' }],
    },
  ),
)
export type NotificationTopicView = Static<typeof NotificationTopicList>['data'][number]

/** Maximum number of channels that a resource may select. */
export const maxChannelIds = 20

/** The channels that a resource selects, in requests and responses. */
export const ChannelIds = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: maxChannelIds, uniqueItems: true }),
  {
    description:
      'IDs of the notification channels to notify; null for the default channels (those with `is_default`), an empty list for none.',
  },
)
