import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
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
import { channelLogListing, getNotification, listNotifications, listChannelNotifications, notificationListing } from './log/log'
import { listTopics } from './message-kinds'
import { Notification, NotificationList } from './log/shapes'
import {
  NotificationChannel,
  NotificationChannelInput,
  NotificationChannelKindInfoList,
  NotificationChannelList,
  NotificationChannelPatch,
  NotificationChannelTestInput,
  NotificationChannelTestResult,
  NotificationTopicList,
} from './shapes'
import { testChannel, testChannelSettings } from './delivery/test-message'

const read = 'monitoring.read'
const write = 'monitoring.write'

export const notificationRoutes = area('notifications', 'Notifications', [
  route({
    method: 'GET',
    path: '/v1/notification-channels/kinds',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listNotificationChannelKinds',
    summary: 'List notification channel kinds',
    description: 'Lists the supported kinds of channels and the JSON Schema of their settings, on one page.',
    response: NotificationChannelKindInfoList,
    run: async () => listChannelKinds(),
  }),
  route({
    method: 'GET',
    path: '/v1/notification-channels/topics',
    guard: read,
    restrictedTokens: 'all',
    operationId: 'listNotificationTopics',
    summary: 'List notification channel topics',
    description: 'Lists the topics that channels can subscribe to, on one page.',
    response: NotificationTopicList,
    run: async () => listTopics(),
  }),
  route({
    method: 'POST',
    path: '/v1/notification-channels/test',
    guard: write,
    action: 'notification.channel.test_settings',
    operationId: 'testNotificationChannelSettings',
    summary: 'Test notification channel settings',
    description:
      'Sends a test message with the given settings and returns the result. Nothing is saved. Limited to 5 requests a minute per workspace.',
    body: NotificationChannelTestInput,
    response: NotificationChannelTestResult,
    problems: ['rate_limited'],
    run: (ctx, { body }) => testChannelSettings(ctx, body),
  }),
  ...crud({
    type: 'notification_channel',
    response: NotificationChannel,
    list: {
      listing: channelListing,
      description: 'Lists the notification channels of the workspace, newest first.',
      response: NotificationChannelList,
      run: listChannels,
    },
    create: {
      description:
        'Creates a channel. Secret settings are never returned. To create a channel that receives notices, you need `account.read`. The mail server of ' +
        'the installation only sends to members of the workspace. A workspace can have up to 50 channels (409).',
      body: NotificationChannelInput,
      problems: ['conflict', 'already_exists'],
      run: createChannel,
    },
    get: {
      description: 'Returns a channel with its settings, without secrets, and its delivery status.',
      run: getChannel,
    },
    update: {
      description:
        'Updates the given fields (JSON merge patch, RFC 7396), including those within `settings`. Secrets you omit are kept. If an update ' +
        'changes where secrets are sent, you must include them again. Deactivating a channel cancels its pending notifications.',
      body: NotificationChannelPatch,
      problems: ['conflict', 'already_exists', 'restricted_token'],
      run: updateChannel,
    },
    delete: {
      description: 'Deletes a channel and its secrets, and cancels its pending notifications. Its log is kept.',
      run: deleteChannel,
    },
    verbs: {
      test: {
        description:
          'Sends a test message immediately, even during quiet hours or on an inactive or disabled channel, and returns the result in `status`, ' +
          '`response`, and `last_error`. Limited to 5 requests a minute per channel.',
        response: Notification,
        problems: ['rate_limited'],
        run: testChannel,
      },
      enable: {
        description: 'Enables a channel that was disabled because its destination no longer existed or rejected the credentials.',
        problems: ['precondition_failed'],
        run: enableChannel,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/v1/notification-channels/:id/notifications',
    guard: read,
    operationId: 'listNotificationChannelNotifications',
    summary: 'List notifications of a channel',
    description: 'Lists the notifications of a channel and their delivery status, newest first. They are kept for 90 days.',
    query: listQuery(channelLogListing),
    response: NotificationList,
    run: (ctx, { params, query }) => listChannelNotifications(ctx, params.id!, query),
  }),
  ...crud({
    type: 'notification',
    response: Notification,
    list: {
      description: 'Lists the notifications of all channels, including deleted ones, newest first.',
      listing: notificationListing,
      response: NotificationList,
      run: listNotifications,
    },
    get: { restrictedTokens: 'handler', description: 'Returns one notification and its delivery status.', run: getNotification },
  }),
])
