import { instant } from '../../core/clock'
import type { NotificationChannelView } from './shapes'
import type { ChannelRow } from './tables'

/** A channel as the API shows it; of its secrets only which there are. */
export const channelView = (row: ChannelRow): NotificationChannelView => ({
  id: row.id,
  kind: row.kind as NotificationChannelView['kind'],
  name: row.name,
  settings: row.settings,
  secrets_set: row.secretNames,
  for_everything: row.forEverything,
  topics: row.topics as NotificationChannelView['topics'],
  min_severity: row.minSeverity,
  tags: row.tags,
  remind_every_seconds: row.remindEverySeconds,
  most_reminders: row.mostReminders,
  quiet_hours: row.quietHours,
  group_seconds: row.groupSeconds,
  active: row.active,
  status: row.status,
  disabled_reason: row.disabledReason,
  failing: row.failuresInARow > 0,
  failing_since_at: instant(row.failingSince),
  last_error: row.lastError,
  last_sent_at: instant(row.lastSentAt),
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})
