import { eq } from 'drizzle-orm'
import { record } from '../core/change'
import type { Hub } from '../core/hub'
import { forgetCallers } from './callers'
import { removeOneTimeCodes } from './one-time-codes'
import { passkeys, sessions } from './tables'
import { auditOfUser, type By, type User } from './users'

/**
 * Takes away what a user proves themself with beside the password, passkeys too, for one who lost it: it may be in other hands.
 * Their sessions end.
 */
export async function resetFactors(hub: Hub, user: User, by: By): Promise<void> {
  await record(hub, async tx => {
    await removeOneTimeCodes(tx, user.id)
    await tx.delete(passkeys).where(eq(passkeys.userId, user.id))
    await tx.delete(sessions).where(eq(sessions.userId, user.id))
    return { result: undefined, audits: await auditOfUser(tx, user, 'account.user.reset_second_factor', by) }
  })
  forgetCallers(hub)
}
