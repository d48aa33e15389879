import type { AuditAction } from '../core/audit-actions'
import { record } from '../core/change'
import type { Ctx } from '../core/ctx'
import { invalid } from '../core/problem'
import type { Proof } from './factor-shapes'
import { unlessGuessing } from './limiter'
import { verifyPassword } from './passwords'
import { failedCredentials, failedLogins } from './rate-limits'
import { proveCode } from './second-factors'
import { auditOfUser, type User } from './users'

/**
 * Holds what takes more than a session to the password of its user. A wrong one counts like a wrong login, and is written down as
 * a failure of what it was for: whoever found an open browser must not guess it here.
 * @param pointer where in the body it stands
 * @throws Problem 422 at `pointer`, 429
 */
export async function provePassword(
  ctx: Ctx,
  user: User,
  password: string,
  { action, pointer = '#/password' }: { action: AuditAction; pointer?: string },
): Promise<void> {
  const { hub } = ctx
  const most = hub.config.failedCredentialsPerMinute
  const buckets = [failedCredentials(ctx.context.ip ?? '', most), failedLogins(user.email, most)]
  await unlessGuessing(hub, buckets, async () => {
    if (await verifyPassword(password, user.passwordHash)) return
    await auditWrong(ctx, user, action, 'The current password was wrong.')
    throw invalid([{ pointer, code: 'wrong_password', detail: 'is not the password.' }])
  })
}

/**
 * Holds what takes more than a session to the password of its user, or to a code where they have one-time codes.
 * @throws Problem 422 at `#/password` or `#/code`, 429
 */
export async function prove(ctx: Ctx, user: User, { password, code }: Proof, action: AuditAction): Promise<void> {
  if ((password === undefined) === (code === undefined))
    throw invalid([{ pointer: '#/password', code: 'required', detail: 'or else `code` is required, and not both.' }])
  if (password !== undefined) return await provePassword(ctx, user, password, { action })
  await proveCode(ctx, user, code!, async () => {
    await auditWrong(ctx, user, action, 'The code was wrong.')
    throw invalid([{ pointer: '#/code', code: 'wrong_code', detail: 'is wrong, too old, or was used already.' }])
  })
}

async function auditWrong(ctx: Ctx, user: User, action: AuditAction, reason: string): Promise<void> {
  await record(ctx.hub, async tx => {
    const audits = await auditOfUser(tx, user, action, { actor: ctx.actor, context: ctx.context })
    return { result: undefined, audits: audits.map(one => ({ ...one, outcome: 'failure' as const, reason })) }
  })
}
