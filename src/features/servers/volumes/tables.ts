import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../../access/tables'
import { flag, int, text } from '../../../core/db/columns'
import { index, table } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { labelTable } from '../label-tables'
import { storageColumns } from '../storage-tables'
import { volumeMembers, volumeStates } from './shapes'

/** Volumes. The server is the one that a volume is attached to. */
export const volumes = table(
  'volumes',
  {
    ...resourceColumns(),
    ...memberColumns(volumeMembers),
    ...storageColumns(),
    state: text('state', { enum: [...volumeStates] }).notNull(),
    location: text('location'),
    format: text('format'),
    device: text('device'),
    mountPath: text('mount_path'),
    // As the cloud last reported it; null if it doesn't.
    usedBytes: int('used_bytes'),
    isProtected: flag('is_protected').notNull(),
  },
  t => [
    index('volumes_workspace').on(t.workspaceId, t.id),
    index('volumes_name').on(t.workspaceId, t.name, t.id),
    index('volumes_created').on(t.workspaceId, t.createdAt, t.id),
    index('volumes_state').on(t.workspaceId, t.state, t.id),
    index('volumes_server').on(t.workspaceId, t.serverId, t.id),
    index('volumes_account').on(t.workspaceId, t.accountId, t.id),
    index('volumes_location').on(t.workspaceId, t.location, t.id),
    index('volumes_ref').on(t.accountId, t.providerRef),
    index('volumes_of_server').on(t.serverId),
    index('volumes_busy')
      .on(t.actionId)
      .where(sql`action_id is not null`),
  ],
)

export const volumeLabels = labelTable('volume_labels', () => volumes.id)
