import { and, eq, inArray } from 'drizzle-orm'
import { memberships, users } from '../../../access/tables'
import type { Reader } from '../../../core/db/transaction'
import type { Settings } from '../../../core/sealed-settings'
import type { ChannelRow } from '../tables'

/**
 * The time zone of the times in the messages of a channel: the one that the profiles of all recipients agree on, or else the one in its
 * settings, or else UTC.
 */
export async function timezoneOf(
  read: Reader,
  { workspaceId, kind }: Pick<ChannelRow, 'workspaceId' | 'kind'>,
  settings: Settings,
): Promise<string> {
  const own = typeof settings['timezone'] === 'string' ? settings['timezone'] : 'UTC'
  if (kind !== 'email') return own
  const recipients = [...new Set((settings['to'] as string[]).map(address => address.toLowerCase()))]
  const members = await read
    .select({ preferences: users.preferences })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.workspaceId, workspaceId), inArray(users.email, recipients)))
  const [zone, ...others] = new Set(members.map(one => one.preferences?.timezone ?? null))
  return members.length === recipients.length && others.length === 0 ? (zone ?? own) : own
}
