import { asc } from 'drizzle-orm'
import type { Hub } from '../core/hub'
import { userView } from './sessions'
import { users } from './tables'
import type { UserView } from './user-shapes'

/** Every person of the installation, by e-mail. */
export async function listUsers(hub: Hub): Promise<(UserView & { disabled: boolean })[]> {
  const rows = await hub.read.select().from(users).orderBy(asc(users.email))
  return await Promise.all(rows.map(async row => ({ ...(await userView(hub, row)), disabled: row.disabledAt !== null })))
}
