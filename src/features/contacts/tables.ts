import { resourceColumns } from '../../access/tables'
import { text } from '../../core/db/columns'
import { index, table } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { openMembers } from './shapes'

export const contacts = table(
  'contacts',
  {
    ...resourceColumns(),
    ...memberColumns(openMembers),
    // All other members, encrypted as one JSON object.
    personalSealed: text('personal_sealed').notNull(),
  },
  t => [index('contacts_workspace').on(t.workspaceId, t.id), index('contacts_label').on(t.workspaceId, t.label, t.id)],
)
