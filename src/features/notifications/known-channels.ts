import { Type } from '@sinclair/typebox'
import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { invalid } from '../../core/problem'
import { Nullable } from '../../core/shapes'
import { notificationChannels } from './tables'

/** Channels of a workspace that something may be told over, beside those that take everything. */
export const mostNamedChannels = 20

/** Channels that something names, in requests and answers. */
export const ChannelIds = Nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: mostNamedChannels, uniqueItems: true }),
  { description: 'Notification channels that are told; null for those that take everything, an empty list for none.' },
)

/**
 * Refuses ids that are none of a channel of the workspace.
 * @param pointer of the member that names them
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
  const unknown = ids.flatMap((id, place) =>
    known.has(id)
      ? []
      : [{ pointer: `${pointer}/${place}`, code: 'unknown', detail: 'is no notification channel of this workspace.' }],
  )
  if (unknown.length > 0) throw invalid(unknown)
}

/** Of the channels that something names, those that are still there; all that take everything where none is. */
export const stillThere = (ids: readonly string[] | null, known: ReadonlyMap<string, string>): string[] | null => {
  const left = ids?.filter(id => known.has(id)) ?? null
  return left?.length === 0 && ids!.length > 0 ? null : left
}

/** The channels of a workspace by their ids: their names, which are unique there. */
export async function channelNames(read: Reader, workspaceId: string): Promise<Map<string, string>> {
  const rows = await read
    .select({ id: notificationChannels.id, name: notificationChannels.name })
    .from(notificationChannels)
    .where(eq(notificationChannels.workspaceId, workspaceId))
  return new Map(rows.map(row => [row.id, row.name]))
}
