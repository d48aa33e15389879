import { accountColumns, checkColumns } from '../../../adapters/accounts/columns'
import { text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import type { CloudFailure } from '../clouds/cloud'
import { powerStates } from '../shapes'
import { servers } from '../tables'

/** Controllers of servers, and how to reach them. */
export const serverControllers = table(
  'server_controllers',
  {
    ...accountColumns(),
    ...checkColumns<CloudFailure>(),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    power: text('power', { enum: [...powerStates] }).notNull(),
    // When the power was last read; null if never.
    powerAt: time('power_at'),
  },
  t => [
    uniqueIndex('server_controllers_server').on(t.serverId, t.kind),
    index('server_controllers_workspace').on(t.workspaceId, t.id),
  ],
)
