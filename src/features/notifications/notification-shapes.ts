import { Type, type Static } from '@sinclair/typebox'
import { severities } from '../../core/notices'
import { Instant, ListOf, MaybeInstant, Nullable, Shape, Words } from '../../core/shapes'
import { channelFailures } from './channels/channel'
import { notificationStates } from './tables'

export const Trouble = (description: string) =>
  Nullable(
    Shape({
      failure: Words(channelFailures, {
        description:
          '`passing`: worth another try. `refused`: this message is not taken. `gone`: none is, since the address or the login is no longer good.',
      }),
      detail: Type.String({ description: 'What went wrong, for people.' }),
    }),
    { description },
  )

export const Notification = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    channel_id: Type.String({ description: 'The channel.' }),
    kind: Type.String({ description: 'What it tells of: `incident.opened`, a kind of notice, `test`.' }),
    state: Words(['problem', 'recovery', 'information'], {
      description: 'Whether it calls for somebody, ends what did, or only tells.',
    }),
    severity: Words(severities, { description: 'How much it matters.' }),
    title: Type.String({ description: 'One line.' }),
    text: Type.String({ description: 'A sentence or two; may be empty.' }),
    facts: Type.Array(Shape({ name: Type.String({ description: 'Name.' }), value: Type.String({ description: 'Value.' }) }), {
      description: 'Facts, in the order in which they matter.',
    }),
    link: Nullable(Type.String(), { description: 'Where to read on.' }),
    thread: Type.String({ description: 'The matter it belongs to, such as the id of an incident.' }),
    resource: Nullable(
      Shape({
        type: Type.String({ description: 'Type of resource.' }),
        id: Type.String({ description: 'Its id.' }),
        name: Nullable(Type.String(), { description: 'Its name; null when it has none.' }),
      }),
      { description: 'What it is about; null for the whole workspace.' },
    ),
    tags: Type.Array(Type.String(), { description: 'Tags of what it is about.' }),
    occurred_at: Instant({ description: 'When what it tells of happened.' }),
    status: Words(notificationStates, {
      description: '`waiting` to be sent, or sent again; `held` by quiet hours; or how it ended.',
    }),
    reason: Nullable(Type.String(), {
      description:
        'Why: `retrying`, `quiet_hours`, `given_up`, `refused`, `recovered`, `problem_not_sent`, `acknowledged`, `channel_disabled`, `channel_inactive`, `channel_deleted`.',
    }),
    attempt_count: Type.Integer({ minimum: 0, description: 'Tries so far.' }),
    last_error: Trouble('Why the last try failed; null if it did not.'),
    said: Nullable(Type.String(), { description: 'What the other side answered to the try that succeeded.' }),
    sent_in: Nullable(Type.String(), {
      description: 'Id of the first notification that went out in the same message; its own where it went alone.',
    }),
    due_at: MaybeInstant({ description: 'When it is to be sent at the earliest; null once it is over.' }),
    sent_at: MaybeInstant({ description: 'When it was taken.' }),
    finished_at: MaybeInstant({ description: 'When it was over, sent or not.' }),
    created_at: Instant({ description: 'When it was told.' }),
    updated_at: Instant({ description: 'When its status last changed.' }),
  },
  {
    $id: 'Notification',
    description: 'A message told on one channel, and what became of it.',
    examples: [
      {
        id: 'ntf_01k3z8q4g7e2wv5m9x0c6hbtfn',
        channel_id: 'chan_01k3z8q4g7e2wv5m9x0c6hbtfn',
        kind: 'incident.opened',
        state: 'problem',
        severity: 'critical',
        title: 'shop.example.com is down',
        text: 'The connection was refused.',
        facts: [{ name: 'Since', value: '2026-11-21T10:00:00.000Z' }],
        link: 'https://hub.example.com/incidents/inc_01k3z8q4g7e2wv5m9x0c6hbtfn',
        thread: 'inc_01k3z8q4g7e2wv5m9x0c6hbtfn',
        resource: { type: 'monitor', id: 'mon_01k3z8q4g7e2wv5m9x0c6hbtfn', name: 'shop.example.com' },
        tags: ['shop'],
        occurred_at: '2026-11-21T10:00:00.000Z',
        status: 'sent',
        reason: null,
        attempt_count: 1,
        last_error: null,
        said: 'ok',
        sent_in: 'ntf_01k3z8q4g7e2wv5m9x0c6hbtfn',
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
