import type { Tx } from '../../../core/db/transaction'
import { addChangeHint } from '../../../core/change-hints'
import type { NotificationRow } from '../tables'

/** Announces status changes of notifications to live listeners. */
export function touchNotifications(tx: Tx, rows: readonly NotificationRow[]): void {
  for (const { workspaceId, id, channelId } of rows)
    addChangeHint(tx, { workspaceId, action: 'notification.message.update', type: 'notification', id, parentId: channelId })
}
