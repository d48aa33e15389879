import type { JobDraft } from '../../core/jobs/queue'

export const deliverKind = 'notifications.deliver'
export const remindKind = 'notifications.remind'
export const noticeKind = 'notifications.notice'

/**
 * The job that sends what waits on a channel. A channel has one that waits at most, and the latest draft is the one that counts: who
 * asks holds the channel.
 * @param at ms UTC
 */
export const deliverJobFor = (channel: { id: string; workspaceId: string }, at: number): JobDraft => ({
  kind: deliverKind,
  payload: { channel_id: channel.id },
  lane: `${channel.workspaceId}/${channel.id}`,
  runAt: at,
  uniqueKey: channel.id,
  replaces: true,
})

/** The job of a thread's next reminder on a channel. @param at ms UTC */
export const reminderJobFor = (channelId: string, thread: string, at: number): JobDraft => ({
  kind: remindKind,
  payload: { channel_id: channelId, thread },
  runAt: at,
  uniqueKey: `${channelId} ${thread}`,
  replaces: true,
})
