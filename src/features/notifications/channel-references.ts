import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { invalid } from '../../core/problem'
import { timezoneOf } from './delivery/timezone'
import { notificationChannels } from './tables'

/**
 * Refuses ids that don't belong to a channel of the workspace.
 * @param pointer JSON pointer of the field
 * @throws Problem 422 at each of them
 */
export async function refuseUnknownChannels(
  read: Reader,
  workspaceId: string,
  ids: readonly string[] | null,
  pointer = '#/channel_ids',
): Promise<void> {
  if (ids === null || ids.length === 0) return
  const rows = await read
    .select({ id: notificationChannels.id })
    .from(notificationChannels)
    .where(and(eq(notificationChannels.workspaceId, workspaceId), inArray(notificationChannels.id, [...ids])))
  const known = new Set(rows.map(row => row.id))
  const unknown = ids.flatMap((id, index) =>
    known.has(id)
      ? []
      : [
          {
            pointer: `${pointer}/${index}`,
            code: 'unknown',
            detail: 'must be the ID of a notification channel of this workspace.',
          },
        ],
  )
  if (unknown.length > 0) throw invalid(unknown)
}

/** The selected channels that still exist; null, which selects the default channels, if all of them were deleted. */
export const existingChannels = (ids: readonly string[] | null, known: ReadonlyMap<string, string>): string[] | null => {
  const left = ids?.filter(id => known.has(id)) ?? null
  return left?.length === 0 && ids!.length > 0 ? null : left
}

/** Channel names of a workspace by id. Names are unique within a workspace. */
export async function channelNames(read: Reader, workspaceId: string): Promise<Map<string, string>> {
  const rows = await read
    .select({ id: notificationChannels.id, name: notificationChannels.name })
    .from(notificationChannels)
    .where(eq(notificationChannels.workspaceId, workspaceId))
  return new Map(rows.map(row => [row.id, row.name]))
}

/** The channel that a link was sent through, with the time zone of its messages; null if it was deleted. */
export async function linkedChannel(
  read: Reader,
  workspaceId: string,
  id: string,
): Promise<{ id: string; name: string; timezone: string } | null> {
  const [row] = await read
    .select()
    .from(notificationChannels)
    .where(and(eq(notificationChannels.id, id), eq(notificationChannels.workspaceId, workspaceId)))
  return row ? { id, name: row.name, timezone: await timezoneOf(read, row, row.settings) } : null
}
