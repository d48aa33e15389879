import { eq } from 'drizzle-orm'
import { target } from '../core/audit'
import { change, isAlready } from '../core/change'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import { violation } from '../core/db/errors'
import { requireMatch } from '../core/if-match'
import { invalid, notFound, Problem } from '../core/problem'
import { canonicalTimezone } from '../core/wall-clock'
import { refuseAskedTooOften } from './asked-too-often'
import { loginOf } from './logins'
import { refuseLoginAsPassword } from './passwords'
import { provePassword } from './proofs'
import { signedInUser, userView } from './sessions'
import { passwordResets, users, type Preferences } from './tables'
import type { UserPatch, UserView } from './user-shapes'
import { auditOfUser } from './users'

// Each tells whether there is somebody with that e-mail.
const emailsPerMinute = 5

/**
 * Edits the user of the session. Another e-mail is another login, and takes the password.
 * @throws Problem 404 for a token, 409 `already_exists`, 412, 422, 429
 */
export async function updateOwnUser(ctx: Ctx, patch: UserPatch): Promise<UserView> {
  if (ctx.sessionId === null) throw notFound('user')
  const preferences = patch.preferences && checked(patch.preferences)
  const email = patch.email === undefined ? undefined : await provenEmail(ctx, patch.email, patch.password)
  try {
    return await change(ctx, 'account.user.update', async tx => {
      const [row] = await locking(tx.select().from(users).where(eq(users.id, ctx.actor.id)))
      requireMatch(ctx, row!)
      const before = await userView(ctx.hub, row!, tx)
      const columns = {
        name: patch.name,
        email,
        preferences: preferences && { ...row!.preferences, ...preferences },
      }
      if (isAlready(row!, columns)) return { result: before, target: target('user', row!), unchanged: true }
      const [updated] = await tx
        .update(users)
        .set({ ...columns, version: row!.version + 1, updatedAt: ctx.hub.clock.now() })
        .where(eq(users.id, ctx.actor.id))
        .returning()
      // A link in the mailbox that is left must not open the login.
      if (updated!.email !== row!.email) await tx.delete(passwordResets).where(eq(passwordResets.userId, row!.id))
      const after = await userView(ctx.hub, updated!, tx)
      // How somebody likes the dashboard concerns nobody elsewhere; by which name they go does.
      const isKnownElsewhere = after.name !== before.name || after.email !== before.email
      const all = isKnownElsewhere ? await auditOfUser(tx, updated!, 'account.user.update', ctx) : []
      const audits = all.filter(one => one.workspaceId !== ctx.workspaceId).map(one => ({ ...one, before, after }))
      return { result: after, target: target('user', updated!), before, after, audits }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', 'There is a user with this e-mail already.')
    throw error
  }
}

function checked(preferences: Partial<Preferences>): Partial<Preferences> {
  const { timezone } = preferences
  if (timezone === undefined || timezone === null) return preferences
  const canonical = canonicalTimezone(timezone)
  if (canonical === null)
    throw invalid([{ pointer: '#/preferences/timezone', code: 'unknown', detail: 'is no time zone of the IANA database.' }])
  return { ...preferences, timezone: canonical }
}

/** The login that an e-mail stands for, once the user proved who they are; nothing of that where it is theirs already. */
async function provenEmail(ctx: Ctx, given: string, password: string | undefined): Promise<string> {
  const user = await signedInUser(ctx)
  const email = loginOf(given)
  if (email === user.email) return email
  if (password === undefined)
    throw invalid([{ pointer: '#/password', code: 'required', detail: 'is required with another e-mail.' }])
  refuseAskedTooOften(ctx, 'email-changes', user.id, emailsPerMinute)
  await provePassword(ctx, user, password, { action: 'account.user.update' })
  refuseLoginAsPassword(email, password, '#/email')
  return email
}
