import { asc, eq } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { maintenanceWindows } from './tables'
import type { WindowRow } from './view'

/** Returns all maintenance windows of a workspace, oldest first. */
export const allWindows = (read: Reader, workspaceId: string): Promise<WindowRow[]> =>
  read
    .select()
    .from(maintenanceWindows)
    .where(eq(maintenanceWindows.workspaceId, workspaceId))
    .orderBy(asc(maintenanceWindows.id)) as Promise<WindowRow[]>
