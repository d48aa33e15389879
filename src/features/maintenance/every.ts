import { asc, eq } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { maintenanceWindows } from './tables'
import type { WindowRow } from './view'

/** Every maintenance window of a workspace, oldest first. */
export const everyWindow = (read: Reader, workspaceId: string): Promise<WindowRow[]> =>
  read
    .select()
    .from(maintenanceWindows)
    .where(eq(maintenanceWindows.workspaceId, workspaceId))
    .orderBy(asc(maintenanceWindows.id)) as Promise<WindowRow[]>
