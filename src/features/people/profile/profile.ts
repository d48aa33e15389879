import { eq } from 'drizzle-orm'
import { normalizeEmail } from '../../../access/email-address'
import { refuseTooManyRequests } from '../../../access/limiter'
import { sessionIdOf } from '../../../access/sessions'
import type { Preferences } from '../../../access/tables'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { invalid } from '../../../core/problem'
import { lockRow, refuseDuplicate, saveRow, targetOf } from '../../../core/rows'
import { canonicalTimezone } from '../../../core/wall-clock'
import { passwordResets } from '../password-resets/tables'
import { refuseEmailAsPassword, refuseWeakPassword } from '../passwords'
import { confirmPassword } from '../second-factors/reauthentication'
import { userView } from '../user-view'
import { userAudits, userRows, signedInUser, setPassword } from '../users'
import type { PasswordChange, UserPatch, UserView } from './shapes'

// Each attempt reveals whether the email address has an account.
const emailsPerMinute = 5

/**
 * Updates the signed-in user. A new email address requires the current password.
 * @throws Problem 409 `already_exists`, 412, 422, 429
 */
export async function updateProfile(ctx: Ctx, patch: UserPatch): Promise<UserView> {
  const preferences = patch.preferences && checkedPreferences(patch.preferences)
  const email = patch.email === undefined ? undefined : await confirmedEmail(ctx, patch.email, patch.password)
  return await refuseDuplicate('A user with this email address already exists.', () =>
    change(ctx, 'account.user.update', async tx => {
      const row = await lockRow(tx, ctx, userRows, ctx.actor.id)
      const updated = await saveRow(tx, ctx, userRows, row, {
        name: patch.name,
        email,
        preferences: preferences && { ...row.preferences, ...preferences },
      })
      const before = await userView(ctx.hub, row, tx)
      const after = await userView(ctx.hub, updated, tx)
      // A password reset link sent to the old address must not work anymore.
      if (updated.email !== row.email) await tx.delete(passwordResets).where(eq(passwordResets.userId, row.id))
      // Other workspaces get an audit event only for a new name or email address, not for preferences.
      const concernsOthers = after.name !== before.name || after.email !== before.email
      const allAudits = concernsOthers ? await userAudits(tx, updated, 'account.user.update', ctx) : []
      const audits = allAudits.filter(one => one.workspaceId !== ctx.workspaceId).map(one => ({ ...one, before, after }))
      return { result: after, target: targetOf(userRows, updated), before, after, audits, unchanged: updated === row }
    }),
  )
}

function checkedPreferences(preferences: Partial<Preferences>): Partial<Preferences> {
  const { timezone } = preferences
  if (timezone === undefined || timezone === null) return preferences
  const canonical = canonicalTimezone(timezone)
  if (canonical === null)
    throw invalid([
      { pointer: '#/preferences/timezone', code: 'unknown', detail: 'must be an IANA time zone name such as Europe/Berlin.' },
    ])
  return { ...preferences, timezone: canonical }
}

/** The normalized email address. If it is a new one, the user must confirm their password. */
async function confirmedEmail(ctx: Ctx, input: string, password: string | undefined): Promise<string> {
  const user = await signedInUser(ctx)
  const email = normalizeEmail(input)
  if (email === user.email) return email
  if (password === undefined)
    throw invalid([{ pointer: '#/password', code: 'required', detail: 'is required to change the email address.' }])
  refuseTooManyRequests(ctx, 'email-changes', user.id, emailsPerMinute)
  await confirmPassword(ctx, user, password, { action: 'account.user.update' })
  refuseEmailAsPassword(email, password, '#/email')
  return email
}

/**
 * Changes the password of the signed-in user. Their other sessions end. A wrong current password counts as a failed sign-in.
 * @throws Problem 422, 429
 */
export async function changePassword(ctx: Ctx, input: PasswordChange): Promise<void> {
  const user = await signedInUser(ctx)
  await refuseWeakPassword(user.email, input.new, '#/new')
  if (input.new === input.current)
    throw invalid([{ pointer: '#/new', code: 'not_changed', detail: 'must differ from the current password.' }])
  await confirmPassword(ctx, user, input.current, { action: 'account.user.set_password', pointer: '#/current' })
  await setPassword(ctx.hub, user, input.new, { actor: ctx.actor, context: ctx.context }, { keepSessionId: sessionIdOf(ctx) })
}
