import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { monitors } from './tables'

/** The statuses of the monitors with these ids in a workspace. */
export const monitorStatusesOf = (read: Reader, workspaceId: string, ids: readonly string[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : read
        .select({ id: monitors.id, name: monitors.name, status: monitors.status })
        .from(monitors)
        .where(and(inArray(monitors.id, [...ids]), eq(monitors.workspaceId, workspaceId)))
