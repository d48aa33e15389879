import { limitGuessing } from '../../../access/limiter'
import { failedOnDevice } from '../../../access/rate-limits'
import type { AuditAction } from '../../../core/audit-actions'
import { record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { invalid } from '../../../core/problem'
import { verifyPassword } from '../passwords'
import { userAudits, type User } from '../users'
import { codeBuckets, verifyCode } from './second-factors'
import type { Reauthentication } from './shapes'

/**
 * Requires the user's password for an action that needs more than a session. A wrong password counts as a failed sign-in and is
 * audited as a failure of the action, so that it cannot be guessed from an unattended browser.
 * @param pointer of the password in the request body
 * @throws Problem 422 at `pointer`, 429
 */
export async function confirmPassword(
  ctx: Ctx,
  user: User,
  password: string,
  { action, pointer = '#/password' }: { action: AuditAction; pointer?: string },
): Promise<void> {
  const { hub } = ctx
  // Per user: only who is signed in as the user can get here, and can start any number of sessions only with the password.
  await limitGuessing(hub, [failedOnDevice(user.id, null, hub.config.failedCredentialsPerMinute)], async () => {
    if (await verifyPassword(password, user.passwordHash)) return
    await auditFailure(ctx, user, action, 'The current password was incorrect.')
    throw invalid([{ pointer, code: 'wrong_password', detail: 'is incorrect.' }])
  })
}

/**
 * Requires the user's password or, if one-time codes are enabled, a code.
 * @throws Problem 422 at `#/password` or `#/code`, 429
 */
export async function reauthenticate(
  ctx: Ctx,
  user: User,
  { password, code }: Reauthentication,
  action: AuditAction,
): Promise<void> {
  if ((password === undefined) === (code === undefined))
    throw invalid([
      { pointer: '#/password', code: 'required', detail: 'is required, unless `code` is sent instead. Send only one of them.' },
    ])
  if (password !== undefined) return await confirmPassword(ctx, user, password, { action })
  await verifyCode(ctx, user, code!, codeBuckets(ctx, user, ctx.sessionId), async () => {
    await auditFailure(ctx, user, action, 'The code was incorrect.')
    throw invalid([{ pointer: '#/code', code: 'wrong_code', detail: 'is incorrect, expired, or already used.' }])
  })
}

async function auditFailure(ctx: Ctx, user: User, action: AuditAction, reason: string): Promise<void> {
  await record(ctx.hub, async tx => ({
    result: undefined,
    audits: await userAudits(tx, user, action, ctx, { outcome: 'failure', reason }),
  }))
}
