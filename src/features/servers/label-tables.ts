import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { text } from '../../core/db/columns'
import { index, primaryKey, table } from '../../core/db/dialect'

/**
 * A table with the labels of resources, by which lists find them: a row for each mark (`labelMarks`).
 * @param id the id column of the resource
 */
export const labelTable = (name: string, id: () => SQLiteColumn) =>
  table(
    name,
    {
      workspaceId: text('workspace_id').notNull(),
      resourceId: text('resource_id').notNull().references(id, { onDelete: 'cascade' }),
      mark: text('mark').notNull(),
    },
    t => [primaryKey({ columns: [t.resourceId, t.mark] }), index(`${name}_mark`).on(t.workspaceId, t.mark, t.resourceId)],
  )

export type LabelTable = ReturnType<typeof labelTable>
