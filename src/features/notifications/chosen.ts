import type { Message } from './message'
import { topicOf } from './message-kinds'
import { isAtLeast } from './quiet-hours'
import type { ChannelRow } from './tables'

/**
 * Whether a channel takes a message. One that is named takes all that matters enough to it; others choose by topic and tag too.
 * @param named ids of the channels that the message is for; null where it names none
 */
export function takes(channel: ChannelRow, message: Message, named: ReadonlySet<string> | null): boolean {
  // What a channel's own trouble is goes elsewhere.
  if (message.resource?.id === channel.id || !isAtLeast(message.severity, channel.minSeverity)) return false
  if (named !== null) return named.has(channel.id)
  if (!channel.forEverything) return false
  const topic = topicOf(message.kind)
  if (!channel.topics.includes(message.kind) && (topic === null || !channel.topics.includes(topic))) return false
  return channel.tags.length === 0 || channel.tags.some(tag => message.tags.includes(tag))
}

/** Why nothing goes out on a channel at present; null when it is in service. */
export const whyIdle = (channel: Pick<ChannelRow, 'active' | 'status'>): 'channel_disabled' | 'channel_inactive' | null =>
  channel.status === 'disabled' ? 'channel_disabled' : channel.active ? null : 'channel_inactive'
