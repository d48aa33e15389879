import { area, route } from '../../access/route'
import { listQuery } from '../../core/list'
import { listChannelKinds } from './channel-kinds'
import {
  channelListing,
  createChannel,
  deleteChannel,
  enableChannel,
  getChannel,
  listChannels,
  updateChannel,
} from './notification-channels'
import { channelLogListing, getNotification, listNotifications, listOfChannel, notificationListing } from './log'
import { listTopics } from './message-kinds'
import { Notification, NotificationList } from './notification-shapes'
import {
  NotificationChannel,
  NotificationChannelInput,
  NotificationChannelKindList,
  NotificationChannelList,
  NotificationChannelPatch,
  NotificationChannelTrial,
  NotificationChannelTried,
  NotificationTopicList,
} from './shapes'
import { testChannel, tryChannel } from './test-message'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const notificationRoutes = area('notifications', 'Notifications', [
  route({
    method: 'GET',
    path: '/v1/notification-channels/kinds',
    guard: read,
    narrowed: 'open',
    operationId: 'listNotificationChannelKinds',
    summary: 'List kinds of notification channels',
    description: 'The ways of telling people, on one page, and what each wants to know.',
    answer: NotificationChannelKindList,
    run: async () => listChannelKinds(),
  }),
  route({
    method: 'GET',
    path: '/v1/notification-channels/topics',
    guard: read,
    narrowed: 'open',
    operationId: 'listNotificationTopics',
    summary: 'List topics of notification channels',
    description: 'What channels can be told of, on one page.',
    answer: NotificationTopicList,
    run: async () => listTopics(),
  }),
  route({
    method: 'POST',
    path: '/v1/notification-channels/try',
    guard: write,
    action: 'notification.channel.try',
    operationId: 'tryNotificationChannel',
    summary: 'Test settings of a notification channel',
    description:
      'Sends a test by settings that no channel has so far, and answers with what came of it. Nothing is kept. Five a minute and workspace.',
    body: NotificationChannelTrial,
    answer: NotificationChannelTried,
    problems: ['rate_limited'],
    run: (ctx, { body }) => tryChannel(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/notification-channels',
    guard: read,
    operationId: 'listNotificationChannels',
    summary: 'List notification channels',
    description: 'The channels by which people are told, the latest first.',
    query: listQuery(channelListing),
    answer: NotificationChannelList,
    run: (ctx, { query }) => listChannels(ctx, query),
  }),
  route({
    method: 'POST',
    path: '/v1/notification-channels',
    guard: write,
    action: 'notification.channel.create',
    operationId: 'createNotificationChannel',
    summary: 'Create a notification channel',
    description:
      'Makes a channel. Secrets are members of `settings`, and are never shown again. A channel that takes notices needs `account.read`. ' +
      'Mail over the server of the installation goes to members of the workspace.',
    body: NotificationChannelInput,
    status: 201,
    answer: NotificationChannel,
    problems: ['conflict', 'already_exists'],
    run: (ctx, { body }) => createChannel(ctx, body),
  }),
  route({
    method: 'GET',
    path: '/v1/notification-channels/:id',
    guard: read,
    operationId: 'getNotificationChannel',
    summary: 'Read a notification channel',
    description: 'A channel with its settings but for secrets, and how it does.',
    answer: NotificationChannel,
    run: (ctx, { params }) => getChannel(ctx, params.id!),
  }),
  route({
    method: 'PATCH',
    path: '/v1/notification-channels/:id',
    guard: write,
    action: 'notification.channel.update',
    operationId: 'updateNotificationChannel',
    summary: 'Edit a notification channel',
    description:
      'Changes members (JSON merge patch, RFC 7396), also within `settings`. Secrets that are not named stay, but have to be given ' +
      'again where another setting sends them elsewhere. Switched off, what waits is cancelled.',
    body: NotificationChannelPatch,
    answer: NotificationChannel,
    problems: ['conflict', 'already_exists'],
    run: (ctx, { params, body }) => updateChannel(ctx, params.id!, body),
  }),
  route({
    method: 'DELETE',
    path: '/v1/notification-channels/:id',
    guard: write,
    action: 'notification.channel.delete',
    operationId: 'deleteNotificationChannel',
    summary: 'Delete a notification channel',
    description: 'Deletes a channel with its secrets, and cancels what waits on it. Its log stays.',
    status: 204,
    run: (ctx, { params }) => deleteChannel(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/notification-channels/:id/test',
    guard: write,
    action: 'notification.channel.test',
    operationId: 'testNotificationChannel',
    summary: 'Test a notification channel',
    description:
      'Sends a test now, whatever the hours, also on a channel that is switched off or disabled, and answers with what came of it: under ' +
      '`status`, `said` and `last_error`. Five a minute and channel.',
    answer: Notification,
    problems: ['rate_limited'],
    run: (ctx, { params }) => testChannel(ctx, params.id!),
  }),
  route({
    method: 'POST',
    path: '/v1/notification-channels/:id/enable',
    guard: write,
    action: 'notification.channel.enable',
    operationId: 'enableNotificationChannel',
    summary: 'Enable a notification channel',
    description: 'Takes a channel back into service that was disabled, since the other side said that it is gone.',
    answer: NotificationChannel,
    run: (ctx, { params }) => enableChannel(ctx, params.id!),
  }),
  route({
    method: 'GET',
    path: '/v1/notification-channels/:id/notifications',
    guard: read,
    operationId: 'listNotificationsOfChannel',
    summary: 'List what was told on a channel',
    description: 'The log of a channel, the latest first: each message and what became of it. It is kept for 90 days.',
    query: listQuery(channelLogListing),
    answer: NotificationList,
    run: (ctx, { params, query }) => listOfChannel(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/notifications',
    guard: read,
    operationId: 'listNotifications',
    summary: 'List what was told',
    description: 'The log of all channels, the latest first; also of those that were deleted since.',
    query: listQuery(notificationListing),
    answer: NotificationList,
    run: (ctx, { query }) => listNotifications(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/notifications/:id',
    guard: read,
    narrowed: 'verb',
    operationId: 'getNotification',
    summary: 'Read a notification',
    description: 'One message on one channel, and what became of it.',
    answer: Notification,
    run: (ctx, { params }) => getNotification(ctx, params.id!),
  }),
])
