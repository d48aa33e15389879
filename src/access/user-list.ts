import { asc } from 'drizzle-orm'
import type { Hub } from '../core/hub'
import { userView, type UserView } from './sessions'
import { users } from './tables'

/** Every person of the installation, by e-mail. */
export async function listUsers(hub: Hub): Promise<(UserView & { disabled: boolean })[]> {
  const rows = await hub.read.select().from(users).orderBy(asc(users.email))
  return await Promise.all(rows.map(async row => ({ ...(await userView(hub, row)), disabled: row.disabledAt !== null })))
}
