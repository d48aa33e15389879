import { Type, type Static } from '@sinclair/typebox'
import { severities } from '../../../core/notices'
import { Instant, ListOf, NullableInstant, Nullable, Shape, Words } from '../../../core/shapes'
import { channelFailures } from '../channels/channel'

export const notificationStatuses = ['pending', 'held', 'sent', 'failed', 'canceled'] as const

export const LastErrorShape = (description: string) =>
  Nullable(
    Shape({
      code: Words(channelFailures, {
        description:
          '`temporary`: will be retried. `rejected`: this message was not accepted, or the installation has no mail server; not retried. `gone`: the destination no longer exists or the credentials are invalid.',
      }),
      detail: Type.String({ description: 'Error message.' }),
    }),
    { description },
  )

export const Notification = Shape(
  {
    id: Type.String({ description: 'ID of the notification.' }),
    channel_id: Type.String({ description: 'ID of the channel.' }),
    kind: Type.String({ description: 'Kind of message, such as `incident.opened`, a kind of notice, or `test`.' }),
    state: Words(['problem', 'recovery', 'information'], {
      description: '`problem`: needs attention. `recovery`: ends a problem. `information`: needs no action.',
    }),
    severity: Words(severities, { description: 'Severity of the message.' }),
    title: Type.String({ description: 'Title of the message, on one line.' }),
    text: Type.String({ description: 'Text of the message, one or two sentences; may be empty.' }),
    facts: Type.Array(
      Shape({
        name: Type.String({ description: 'Label of the detail.' }),
        value: Type.String({ description: 'Value of the detail.' }),
      }),
      {
        description: 'Details shown below the text, most important first.',
      },
    ),
    link: Nullable(Type.String(), { description: 'URL of a page with more information; null if there is none.' }),
    thread: Type.String({ description: 'ID that related messages share, such as the ID of the incident.' }),
    resource: Nullable(
      Shape({
        type: Type.String({ description: 'Type of resource.' }),
        id: Type.String({ description: 'ID of the resource.' }),
        name: Nullable(Type.String(), { description: 'Name; null if it has none.' }),
      }),
      { description: 'The resource the message is about; null for the whole workspace.' },
    ),
    tags: Type.Array(Type.String(), { description: 'Tags of the resource.' }),
    occurred_at: Instant({ description: 'When the reported event happened.' }),
    status: Words(notificationStatuses, {
      description:
        '`pending`: will be sent or retried. `held`: waiting for quiet hours to end. `sent`, `failed`, and `canceled` are final.',
    }),
    reason: Nullable(Type.String(), {
      description:
        'Reason for the status: `retrying`, `quiet_hours`, `retries_exhausted`, `rejected`, `recovered` (the problem ended before it was sent), `problem_not_sent` (a recovery whose problem was never sent), `acknowledged`, `channel_disabled`, `channel_inactive`, or `channel_deleted`. Null if there is none.',
    }),
    attempt_count: Type.Integer({ minimum: 0, description: 'Number of attempts so far.' }),
    last_error: LastErrorShape('Error of the last attempt; null if it succeeded.'),
    response: Nullable(Type.String(), {
      description: 'Response of the destination when the message was sent; null if it was not sent.',
    }),
    sent_with_id: Nullable(Type.String(), {
      description:
        'ID of the first notification that was sent in the same message; its own ID if it was sent alone. Null if it was not sent.',
    }),
    due_at: NullableInstant({ description: 'Earliest time it will be sent; null once it is final.' }),
    sent_at: NullableInstant({ description: 'When the notification was sent; null if it was not.' }),
    finished_at: NullableInstant({ description: 'When the notification reached a final status; null if it has not.' }),
    created_at: Instant({ description: 'When the notification was created.' }),
    updated_at: Instant({ description: 'When the status last changed.' }),
  },
  {
    $id: 'Notification',
    description: 'A message on one channel, and its delivery status.',
    examples: [
      {
        id: 'ntf_01k3z8q4g7e2wv5m9x0c6hbtfn',
        channel_id: 'chan_01k3z8q4g7e2wv5m9x0c6hbtfn',
        kind: 'incident.opened',
        state: 'problem',
        severity: 'critical',
        title: 'shop.example.com is down',
        text: 'The connection was refused.',
        facts: [{ name: 'Started', value: '2026-11-21T10:00:00.000Z' }],
        link: 'https://hub.example.com/incidents/inc_01k3z8q4g7e2wv5m9x0c6hbtfn',
        thread: 'inc_01k3z8q4g7e2wv5m9x0c6hbtfn',
        resource: { type: 'monitor', id: 'mon_01k3z8q4g7e2wv5m9x0c6hbtfn', name: 'shop.example.com' },
        tags: ['shop'],
        occurred_at: '2026-11-21T10:00:00.000Z',
        status: 'sent',
        reason: null,
        attempt_count: 1,
        last_error: null,
        response: 'ok',
        sent_with_id: 'ntf_01k3z8q4g7e2wv5m9x0c6hbtfn',
        due_at: null,
        sent_at: '2026-11-21T10:00:02.000Z',
        finished_at: '2026-11-21T10:00:02.000Z',
        created_at: '2026-11-21T10:00:01.000Z',
        updated_at: '2026-11-21T10:00:02.000Z',
      },
    ],
  },
)
export const NotificationList = ListOf(Notification)
export type NotificationView = Static<typeof Notification>
