import { asc, eq, count } from 'drizzle-orm'
import { users, workspaces, memberships } from '../../access/tables'
import { editableView } from '../../core/members'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { passkeys } from './passkeys/tables'
import { type UserView, defaultPreferences } from './profile/shapes'
import { oneTimeCodesOf } from './second-factors/one-time-codes'
import type { User } from './users'

/** All users of the installation, by email address. */
export async function listUsers(hub: Hub): Promise<(UserView & { disabled: boolean })[]> {
  const rows = await hub.read.select().from(users).orderBy(asc(users.email))
  return await Promise.all(rows.map(async row => ({ ...(await userView(hub, row)), disabled: row.disabledAt !== null })))
}

/** A user as shown in the API, with their workspaces. */
export async function userView(hub: Hub, user: User, read: Reader = hub.read): Promise<UserView> {
  const memberOf = await read
    .select({ id: workspaces.id, name: workspaces.name, role: memberships.role })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(eq(memberships.userId, user.id))
    .orderBy(asc(memberships.createdAt), asc(workspaces.id))
  const { enabled, remaining } = await oneTimeCodesOf(read, user.id)
  const [passkeyCount] = await read.select({ n: count() }).from(passkeys).where(eq(passkeys.userId, user.id))
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    operator: user.isOperator,
    second_factor: { one_time_codes: enabled, recovery_codes_remaining: remaining, passkeys: passkeyCount!.n },
    preferences: { ...defaultPreferences, ...user.preferences },
    workspaces: memberOf,
    ...editableView(user),
  }
}
