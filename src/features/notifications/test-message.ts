import { eq } from 'drizzle-orm'
import { refuseAskedTooOften } from '../../access/asked-too-often'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { newId } from '../../core/ids'
import { checkedSettings } from '../../core/sealed-settings'
import { channelTarget } from './channel-health'
import { refuseOwnAddress, refuseStrangers } from './channel-rules'
import { channelKindOf } from './channels'
import { channelOf } from './notification-channels'
import { well } from './deliver'
import type { Message } from './message'
import type { NotificationView } from './notification-shapes'
import { notificationView } from './notification-view'
import { sendOn, sendWith } from './send'
import type { NotificationChannelTrial, NotificationChannelTried } from './shapes'
import { notificationChannels, notifications } from './tables'

/**
 * Sends a test by settings that no channel has so far, and tells what the other side said. Nothing is kept. Five a minute and workspace.
 * @throws Problem 422, 429
 */
export async function tryChannel(ctx: Ctx, input: NotificationChannelTrial): Promise<NotificationChannelTried> {
  const kind = channelKindOf(input.kind)!
  const settings = checkedSettings(kind, input.settings)
  await refuseStrangers(ctx, input.kind, settings)
  await refuseOwnAddress(ctx, settings)
  refuseAskedTooOften(ctx, 'channel-trials', ctx.workspaceId, 5)
  const channel = { id: newId('chan'), workspaceId: ctx.workspaceId, kind: kind.kind }
  const own = newId('ntf')
  const message = testMessage(ctx, { id: own, channel: { id: channel.id, name: input.name ?? kind.title } })
  const sent = await sendWith(ctx.hub, channel, settings, { id: own, message, count: 1, first: true })
  return await change(ctx, 'notification.channel.try', async () => ({
    result: { sent: sent.trouble === null, said: sent.trouble === null ? sent.said : null, last_error: sent.trouble },
    target: { type: 'notification_channel', id: channel.id, name: message.resource!.name },
    reason: sent.trouble === null ? 'It was taken.' : sent.trouble.detail,
  }))
}

/**
 * Sends a test now, whatever the hours, also while the channel is switched off or disabled, and tells what the other side said. One
 * that is taken ends what was held against the channel; one that is not has no effect on it. Five a minute and channel.
 * @throws Problem 404, 429
 */
export async function testChannel(ctx: Ctx, id: string): Promise<NotificationView> {
  const { hub } = ctx
  const channel = await channelOf(hub.read, ctx, id)
  refuseAskedTooOften(ctx, 'channel-tests', id, 5)
  const createdAt = hub.clock.now()
  const own = newId('ntf')
  const message = testMessage(ctx, { id: own, channel: { id, name: channel.name } })
  const sent = await sendOn(hub, channel, { id: own, message, count: 1, first: true })
  return await change(ctx, 'notification.channel.test', async tx => {
    const now = hub.clock.now()
    const taken = sent.trouble === null
    if (taken) await tx.update(notificationChannels).set(well(now)).where(eq(notificationChannels.id, id))
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
        once: own,
        message,
        reminder: false,
        status: taken ? 'sent' : 'failed',
        reason: taken ? null : sent.trouble.failure === 'refused' ? 'refused' : 'given_up',
        attemptCount: 1,
        dueAt: createdAt,
        giveUpAt: createdAt,
        lastError: sent.trouble,
        said: taken ? sent.said : null,
        sentIn: taken ? own : null,
        sentAt: taken ? now : null,
        finishedAt: now,
        createdAt,
        updatedAt: now,
      })
      .returning()
    return {
      result: notificationView(row!),
      target: channelTarget(channel),
      reason: taken ? 'It was taken.' : sent.trouble.detail,
    }
  })
}

const testMessage = (ctx: Ctx, { id, channel }: { id: string; channel: { id: string; name: string } }): Message => ({
  kind: 'test',
  state: 'information',
  severity: 'warning',
  title: `Test of the channel “${channel.name}”`,
  text: 'Somebody asked for this message to see whether it comes through. There is nothing to do.',
  facts: [['Asked for by', ctx.actor.name ?? ctx.actor.id]],
  link: null,
  acknowledgeLink: null,
  thread: id,
  resource: { type: 'notification_channel', ...channel },
  tags: [],
  occurredAt: ctx.hub.clock.now(),
})
