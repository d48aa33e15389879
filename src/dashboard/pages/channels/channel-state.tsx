import type { NotificationChannelView } from '../../../features/notifications/shapes'
import { Status } from '../../parts/status'

/** How a channel does, in one word. */
export function ChannelState({ channel }: { channel: NotificationChannelView }) {
  if (channel.status === 'disabled') return <Status state="disabled" />
  if (!channel.active) return <Status state="paused" label="switched off" />
  if (channel.failing) return <Status state="failing" />
  return <Status state="enabled" label={channel.last_sent_at === null ? 'ready' : 'working'} />
}
