import type { Message } from '../message'
import { topicOf } from '../message-kinds'
import { isAtLeast } from './quiet-hours'
import type { ChannelRow } from '../tables'

/**
 * Whether a channel receives a message. A channel that is selected explicitly only filters by severity; default channels also filter by
 * topic and tag.
 * @param selected ids of the channels the message is for; null for the default channels
 */
export function accepts(channel: ChannelRow, message: Message, selected: ReadonlySet<string> | null): boolean {
  // Problems of a channel are sent to the other channels.
  if (message.resource?.id === channel.id || !isAtLeast(message.severity, channel.minSeverity)) return false
  if (selected !== null) return selected.has(channel.id)
  if (!channel.isDefault) return false
  const topic = topicOf(message.kind)
  if (!channel.topics.some(one => one === message.kind || one === topic)) return false
  return channel.tags.length === 0 || channel.tags.some(tag => message.tags.includes(tag))
}

/** Why a channel currently sends nothing; null if it is active. */
export const inactiveReason = (channel: Pick<ChannelRow, 'active' | 'status'>): 'channel_disabled' | 'channel_inactive' | null =>
  channel.status === 'disabled' ? 'channel_disabled' : channel.active ? null : 'channel_inactive'
