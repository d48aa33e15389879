import type { JobDraft } from '../../core/jobs/queue'

export const deliverKind = 'notifications.deliver'
export const remindKind = 'notifications.remind'
export const noticeKind = 'notifications.notice'
/** Of the job by which an incident hears whom it was told to. It is theirs; they know this feature, and not the other way about. */
export const toldKind = 'incidents.write-told'

/** What came of telling a channel of an incident. */
export interface Told {
  /** The thread of the message: the incident. */
  thread: string
  channel: { id: string; name: string; kind: string }
  /** Of the message. */
  kind: string
  reminder: boolean
  /** ms UTC */
  at: number
  /** Why it was given up; null when it was sent. */
  trouble: string | null
}

/** The jobs by which incidents hear what came of telling of them. */
export const toldJobs = (outcomes: readonly Told[]): JobDraft[] =>
  outcomes.filter(one => one.thread.startsWith('inc_')).map(one => ({ kind: toldKind, payload: { ...one } }))

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
