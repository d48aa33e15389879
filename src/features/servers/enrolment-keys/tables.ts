import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { flag, int, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { servers } from '../tables'
import { enrolmentKeyMembers } from './shapes'

/** Keys with which agents are enrolled. */
export const enrolmentKeys = table(
  'enrolment_keys',
  {
    ...resourceColumns(),
    ...memberColumns(enrolmentKeyMembers),
    serverId: text('server_id').references(() => servers.id, { onDelete: 'cascade' }),
    keyHash: text('key_hash').notNull(),
    hint: text('hint').notNull(),
    expiresAt: time('expires_at').notNull(),
    // How many agents were enrolled with it.
    used: int('used').notNull(),
    lastUsedAt: time('last_used_at'),
    // Since when it can’t be used again; null while it can.
    usedUpAt: time('used_up_at'),
    // Whether new servers get a monitor, which requires that who created the key can create monitors.
    monitor: flag('monitor').notNull(),
  },
  t => [
    uniqueIndex('enrolment_keys_hash').on(t.keyHash),
    index('enrolment_keys_workspace').on(t.workspaceId, t.id),
    index('enrolment_keys_server').on(t.serverId),
    index('enrolment_keys_expires').on(t.expiresAt),
    index('enrolment_keys_open')
      .on(t.workspaceId)
      .where(sql`used_up_at is null`),
  ],
)
