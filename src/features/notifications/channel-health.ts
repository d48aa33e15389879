import { jobContext, systemActor } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { instant, formatUtcMinute } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { NoticeDraft } from '../../core/notices'
import { pluralize, wasOrWere } from '../../core/pluralize'
import { saveRow } from '../../core/rows'
import { channelAccounts, channelTarget, channelView } from './channel-accounts'
import type { ChannelRow } from './tables'
import { cancelPending } from './delivery/pending'

// The fourth consecutive failure is 2 min 40 s after the first, so short interruptions raise no notice.
const failuresBeforeNotice = 4

/** The notice about a failing channel, once per outage. */
export const failingNotices = (channel: ChannelRow): NoticeDraft[] =>
  channel.consecutiveFailures !== failuresBeforeNotice
    ? []
    : [
        {
          workspaceId: channel.workspaceId,
          kind: 'notification_channel.failing',
          resource: channelTarget(channel),
          text: `No notification has been delivered through the channel “${channel.name}” since ${formatUtcMinute(channel.failingSince!)}. Bailiwick keeps retrying. Last error: ${channel.lastError?.detail ?? 'unknown'}`,
          details: { failures: channel.consecutiveFailures, failing_since_at: instant(channel.failingSince) },
          dedupKey: channel.id,
        },
      ]

/**
 * Disables a channel whose destination no longer exists, and raises a notice, which goes to the other channels.
 * @param actor the job that detected it
 */
export async function disableChannel(tx: Tx, hub: Hub, channel: ChannelRow, actor: string): Promise<RecordResult<undefined>> {
  const now = hub.clock.now()
  const reason = channel.lastError?.detail ?? 'The destination no longer exists.'
  const disabled = { status: 'disabled', disabledReason: reason } as const
  const after: ChannelRow = await saveRow(tx, { hub }, channelAccounts.rows, channel, disabled)
  const canceled = await cancelPending(tx, channel.id, 'channel_disabled', now)
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
        after: channelView(after),
        reason,
      },
    ],
    notices: [
      {
        workspaceId: channel.workspaceId,
        kind: 'notification_channel.disabled',
        resource: channelTarget(channel),
        text: `The channel “${channel.name}” was disabled, and ${pluralize(canceled, 'pending notifications')} ${wasOrWere(canceled)} not sent. Fix the cause, then enable the channel again. Error: ${reason}`,
        details: { reason, not_sent: canceled },
        dedupKey: channel.id,
      },
    ],
  }
}
