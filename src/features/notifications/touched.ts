import type { Tx } from '../../core/db/transaction'
import { touch } from '../../core/touches'
import type { NotificationRow } from './tables'

/** Tells who listens that messages are further on their way than before. */
export function touchNotifications(tx: Tx, rows: readonly NotificationRow[]): void {
  for (const { workspaceId, id, channelId } of rows)
    touch(tx, { workspaceId, action: 'notification.message.move', type: 'notification', id, within: channelId })
}
