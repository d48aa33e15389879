import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { monitors } from './tables'

/** The statuses of the monitors with these ids in a workspace; null for all workspaces. */
export const monitorStatusesOf = (read: Reader, workspaceId: string | null, ids: readonly string[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : read
        .select({ id: monitors.id, workspaceId: monitors.workspaceId, status: monitors.status })
        .from(monitors)
        .where(and(inArray(monitors.id, [...ids]), workspaceId === null ? undefined : eq(monitors.workspaceId, workspaceId)))

/** What the monitors with these ids check, and with what result. */
export const monitorChecksOf = (read: Reader, workspaceId: string, ids: readonly string[]) =>
  ids.length === 0
    ? Promise.resolve([])
    : read
        .select({ name: monitors.name, status: monitors.status, target: monitors.target, lastCheckAt: monitors.lastCheckAt })
        .from(monitors)
        .where(and(inArray(monitors.id, [...ids]), eq(monitors.workspaceId, workspaceId)))
