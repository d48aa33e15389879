import { resourceColumns } from '../../../access/tables'
import { text } from '../../../core/db/columns'
import { table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { keyAlgorithms } from './public-key'
import { sshKeyMembers } from './shapes'

/** Public keys for new servers. */
export const sshKeys = table(
  'ssh_keys',
  {
    ...resourceColumns(),
    ...memberColumns(sshKeyMembers),
    algorithm: text('algorithm', { enum: [...keyAlgorithms] }).notNull(),
    fingerprint: text('fingerprint').notNull(),
  },
  t => [
    uniqueIndex('ssh_keys_name').on(t.workspaceId, t.name),
    uniqueIndex('ssh_keys_fingerprint').on(t.workspaceId, t.fingerprint),
  ],
)
