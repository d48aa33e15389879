import { and, asc, eq, inArray, or } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import type { GroupOptions } from './definition/types'
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
        .select({
          ...{ id: monitors.id, name: monitors.name, type: monitors.type, paused: monitors.paused },
          ...{ status: monitors.status, target: monitors.target, options: monitors.options },
        })
        .from(monitors)
        .where(and(inArray(monitors.id, [...ids]), eq(monitors.workspaceId, workspaceId)))
        .orderBy(asc(monitors.id))

const maxDepth = 10

/** Those of these monitors that follow a server, or groups that contain one that does. They say nothing new about the server. */
export async function monitorsOfServers(read: Reader, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>()
  // Each group and member, with the monitors that they are part of.
  let layer = new Map(ids.map(id => [id, new Set([id])]))
  for (let depth = 0; layer.size > 0 && depth <= maxDepth; depth++) {
    const rows = await read
      .select({ id: monitors.id, type: monitors.type, options: monitors.options })
      .from(monitors)
      .where(and(inArray(monitors.id, [...layer.keys()]), inArray(monitors.type, ['server', 'group'])))
    const next = new Map<string, Set<string>>()
    for (const { id, type, options } of rows) {
      const roots = layer.get(id)!
      if (type === 'server') for (const root of roots) found.add(root)
      else
        for (const member of (options as GroupOptions).members ?? []) next.set(member, roots.union(next.get(member) ?? new Set()))
    }
    layer = next
  }
  return found
}

/** The monitors that follow these servers, and those with these ids, in a workspace. */
export const monitorsAbout = (read: Reader, workspaceId: string, serverIds: readonly string[], ids: readonly string[]) =>
  read
    .select({ id: monitors.id, target: monitors.target, tags: monitors.tags, status: monitors.status })
    .from(monitors)
    .where(
      and(
        eq(monitors.workspaceId, workspaceId),
        or(and(eq(monitors.type, 'server'), inArray(monitors.target, [...serverIds])), inArray(monitors.id, [...ids])),
      ),
    )
