import type { JobDraft } from '../../../core/jobs/draft'

export const deliverKind = 'notifications.deliver'
export const remindKind = 'notifications.remind'
export const noticeKind = 'notifications.notice'
/** Job kind of the incidents feature that records outcomes. Named here because incidents import notifications, not vice versa. */
export const recordOutcomeKind = 'incidents.record-outcome'

/** The outcome of an incident notification on a channel. */
export interface NotificationOutcome {
  /** The thread of the message: the incident. */
  thread: string
  channel: { id: string; name: string; kind: string }
  /** Kind of the message. */
  kind: string
  reminder: boolean
  /** ms UTC */
  at: number
  /** Why it failed permanently; null if it was sent. */
  error: string | null
}

/** Jobs that report outcomes to incidents. */
export const outcomeJobs = (outcomes: readonly NotificationOutcome[]): JobDraft[] =>
  outcomes.filter(one => one.thread.startsWith('inc_')).map(one => ({ kind: recordOutcomeKind, payload: { ...one } }))

/**
 * The job that sends the pending notifications of a channel. A channel has at most one queued; a new one replaces it, so the caller must
 * hold a lock on the channel.
 * @param at ms UTC
 */
export const deliverJobFor = (channel: { id: string; workspaceId: string }, at: number): JobDraft => ({
  kind: deliverKind,
  payload: { channel_id: channel.id },
  lane: `${channel.workspaceId}/${channel.id}`,
  runAt: at,
  uniqueKey: channel.id,
  replaces: true,
  // Of problems reported together, each may have seen only some of the pending notifications.
  earliest: true,
})

/** The job that sends the next reminder of a thread on a channel. @param at ms UTC */
export const reminderJobFor = (channelId: string, thread: string, at: number): JobDraft => ({
  kind: remindKind,
  payload: { channel_id: channelId, thread },
  runAt: at,
  uniqueKey: `${channelId} ${thread}`,
  replaces: true,
})
