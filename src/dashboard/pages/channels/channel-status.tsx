import type { NotificationChannelView } from '../../../features/notifications/shapes'
import { Status } from '../../parts/status'

/** Status of a channel. */
export function ChannelStatus({ channel }: { channel: NotificationChannelView }) {
  if (channel.status === 'disabled') return <Status status="disabled" label="disabled automatically" />
  if (!channel.active) return <Status status="inactive" />
  if (channel.failing) return <Status status="failing" />
  return <Status status={channel.status} />
}
