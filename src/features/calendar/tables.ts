import { resourceColumns } from '../../access/tables'
import { text, time } from '../../core/db/columns'
import { index, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { feedMembers } from './shapes'

export const calendarFeeds = table(
  'calendar_feeds',
  {
    ...resourceColumns(),
    ...memberColumns(feedMembers),
    secretHash: text('secret_hash').notNull(),
    secretSealed: text('secret_sealed').notNull(),
    lastUsedAt: time('last_used_at'),
  },
  t => [
    index('calendar_feeds_workspace').on(t.workspaceId, t.id),
    index('calendar_feeds_name').on(t.workspaceId, t.name, t.id),
    uniqueIndex('calendar_feeds_secret').on(t.secretHash),
  ],
)
