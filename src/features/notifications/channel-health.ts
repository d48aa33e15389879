import { eq } from 'drizzle-orm'
import { target } from '../../core/audit'
import { jobContext, systemActor, type Recorded } from '../../core/change'
import { instant, minuteText } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { NoticeDraft } from '../../core/notices'
import { numbered } from '../../core/numbered'
import { channelView } from './channel-view'
import { notificationChannels, type ChannelRow } from './tables'
import { cancelWaiting } from './waiting'

// The fourth failure in a row is 2 min 40 s after the first: no passing hiccup.
const failuresToTell = 4

/** What is told of a channel that fails, once an outage. */
export const failingNotices = (channel: ChannelRow): NoticeDraft[] =>
  channel.failuresInARow !== failuresToTell
    ? []
    : [
        {
          workspaceId: channel.workspaceId,
          kind: 'notification_channel.failing',
          resource: channelTarget(channel),
          text: `Nothing has come through on the channel “${channel.name}” since ${minuteText(channel.failingSince!)}. ${channel.lastError?.detail ?? ''} It is tried on.`,
          details: { failures: channel.failuresInARow, failing_since: instant(channel.failingSince) },
          matter: channel.id,
        },
      ]

/**
 * Takes a channel out of service that is gone on the other side, and says so: by a notice, which goes to the other channels too.
 * @param actor the job that found out
 */
export async function disableChannel(tx: Tx, hub: Hub, channel: ChannelRow, actor: string): Promise<Recorded<undefined>> {
  const now = hub.clock.now()
  const reason = channel.lastError?.detail ?? 'It is gone.'
  const [after] = await tx
    .update(notificationChannels)
    .set({ status: 'disabled', disabledReason: reason, version: channel.version + 1, updatedAt: now })
    .where(eq(notificationChannels.id, channel.id))
    .returning()
  const left = await cancelWaiting(tx, channel.id, 'channel_disabled', now)
  return {
    result: undefined,
    audits: [
      {
        workspaceId: channel.workspaceId,
        action: 'notification.channel.disable',
        actor: systemActor(actor),
        context: jobContext,
        targets: [channelTarget(channel)],
        before: channelView(channel),
        after: channelView(after!),
        reason,
      },
    ],
    notices: [
      {
        workspaceId: channel.workspaceId,
        kind: 'notification_channel.disabled',
        resource: channelTarget(channel),
        text: `The channel “${channel.name}” was disabled: ${reason} ${numbered(left, 'messages')} did not get out. Once it is right again, enable it.`,
        details: { reason, not_sent: left },
        matter: channel.id,
      },
    ],
  }
}

/** A channel as the audit log names it. */
export const channelTarget = (row: Pick<ChannelRow, 'id' | 'name'>) => target('notification_channel', row)
