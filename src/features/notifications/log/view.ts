import { instant } from '../../../core/clock'
import type { NotificationView } from './shapes'
import type { NotificationRow } from '../tables'

/** API representation of a notification. */
export const notificationView = (row: NotificationRow): NotificationView => ({
  id: row.id,
  channel_id: row.channelId,
  kind: row.kind,
  state: row.state,
  severity: row.message.severity,
  title: row.message.title,
  text: row.message.text,
  facts: row.message.facts.map(([name, value]) => ({ name, value })),
  link: row.message.link,
  thread: row.thread,
  resource: row.message.resource,
  tags: [...row.message.tags],
  occurred_at: instant(row.message.occurredAt),
  status: row.status,
  reason: row.reason,
  attempt_count: row.attemptCount,
  last_error: row.lastError,
  response: row.response,
  sent_with_id: row.sentWithId,
  due_at: row.finishedAt === null ? instant(row.dueAt) : null,
  sent_at: instant(row.sentAt),
  finished_at: instant(row.finishedAt),
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})
