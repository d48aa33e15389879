import { refuseTooManyRequests } from '../../../access/limiter'
import { eq } from 'drizzle-orm'
import { storeReplacedSettings } from '../../../adapters/accounts/replaced-settings'
import { refuseOwnAddress } from '../../../adapters/accounts/destinations'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { newId } from '../../../core/ids'
import { validateSettings } from '../../../core/sealed-settings'
import { channelAccounts, channelTarget } from '../channel-accounts'
import { refuseNonMembers } from '../channel-rules'
import { channelKindOf } from '../channels'
import { deliverKind } from './delivery-jobs'
import { channelOf } from '../notification-channels'
import { healthyColumns } from './deliver'
import type { Message } from '../message'
import type { NotificationView } from '../log/shapes'
import { notificationView } from '../log/view'
import { sendToChannel, sendWithSettings } from './send'
import type { NotificationChannelTestInput, NotificationChannelTestResult } from '../shapes'
import { notificationChannels, notifications } from '../tables'

/**
 * Sends a test message with unsaved settings and returns the result. Nothing is stored. Limited to 5 a minute per workspace.
 * @throws Problem 422, 429
 */
export async function testChannelSettings(ctx: Ctx, input: NotificationChannelTestInput): Promise<NotificationChannelTestResult> {
  const kind = channelKindOf(input.kind)!
  const settings = validateSettings(kind, input.settings)
  await refuseNonMembers(ctx, input.kind, settings)
  await refuseOwnAddress(ctx, settings)
  refuseTooManyRequests(ctx, 'channel-trials', ctx.workspaceId, 5)
  const channel = { id: newId('chan'), workspaceId: ctx.workspaceId, kind: kind.kind }
  const own = newId('ntf')
  const message = testMessage(ctx, { id: own, channel: { id: channel.id, name: input.name ?? kind.title } })
  const sent = await sendWithSettings(ctx.hub, channel, settings, { id: own, message, count: 1, first: true })
  return await change(ctx, 'notification.channel.test_settings', async () => ({
    result: {
      sent: sent.error === null,
      response: sent.error === null ? sent.response : null,
      error: sent.error,
    },
    target: { type: 'notification_channel', id: channel.id, name: message.resource!.name },
    reason: sent.error === null ? 'The test message was sent.' : sent.error.detail,
  }))
}

/**
 * Sends a test message immediately, even during quiet hours or on an inactive or disabled channel, and returns the result. A success
 * clears the failures of the channel; a failure has no effect on it. Limited to 5 a minute per channel.
 * @throws Problem 404, 429
 */
export async function testChannel(ctx: Ctx, id: string): Promise<NotificationView> {
  const { hub } = ctx
  const channel = await channelOf(ctx, id)
  refuseTooManyRequests(ctx, 'channel-tests', id, 5)
  const createdAt = hub.clock.now()
  const own = newId('ntf')
  const message = testMessage(ctx, { id: own, channel: { id, name: channel.name } })
  const sent = await sendToChannel(hub, channel, { id: own, message, count: 1, first: true })
  return await change(ctx, 'notification.channel.test', async tx => {
    const now = hub.clock.now()
    const isSent = sent.error === null
    if (isSent) await tx.update(notificationChannels).set(healthyColumns(channel, now)).where(eq(notificationChannels.id, id))
    const [row] = await tx
      .insert(notifications)
      .values({
        id: own,
        workspaceId: ctx.workspaceId,
        channelId: id,
        kind: message.kind,
        state: message.state,
        severity: message.severity,
        thread: own,
        dedupKey: own,
        message,
        reminder: false,
        status: isSent ? 'sent' : 'failed',
        reason: isSent ? null : sent.error.code === 'rejected' ? 'rejected' : 'retries_exhausted',
        attemptCount: 1,
        dueAt: createdAt,
        giveUpAt: createdAt,
        lastError: sent.error,
        response: isSent ? sent.response : null,
        sentWithId: isSent ? own : null,
        sentAt: isSent ? now : null,
        finishedAt: now,
        createdAt,
        updatedAt: now,
      })
      .returning()
    return {
      result: notificationView(row!),
      target: channelTarget(channel),
      reason: isSent ? 'The test message was sent.' : sent.error.detail,
      audits: await storeReplacedSettings(tx, hub, channelAccounts, channel, sent.replaced, deliverKind),
    }
  })
}

const testMessage = (ctx: Ctx, { id, channel }: { id: string; channel: { id: string; name: string } }): Message => ({
  kind: 'test',
  state: 'information',
  severity: 'info',
  title: `Test message for “${channel.name}”`,
  text: 'This is a test of the notification channel. No action is needed.',
  facts: [['Sent by', ctx.actor.name ?? ctx.actor.id]],
  link: null,
  acknowledgeLink: null,
  thread: id,
  resource: { type: 'notification_channel', ...channel },
  tags: [],
  occurredAt: ctx.hub.clock.now(),
})
