import type { Ctx } from '../core/ctx'
import { invalid } from '../core/problem'
import { refuseLoginAsPassword } from './passwords'
import { provePassword } from './proofs'
import { sessionUser } from './sessions'
import type { PasswordChange } from './user-shapes'
import { setPassword } from './users'

/**
 * Gives the user of the session another password. Their other sessions end; the one that asks goes on. A wrong current password
 * counts like a wrong login.
 * @throws Problem 404 for a token, 422, 429
 */
export async function changePassword(ctx: Ctx, input: PasswordChange): Promise<void> {
  const user = await sessionUser(ctx)
  refuseLoginAsPassword(user.email, input.new, '#/new')
  if (input.new === input.current)
    throw invalid([{ pointer: '#/new', code: 'not_changed', detail: 'must be another password than the current one.' }])
  await provePassword(ctx, user, input.current, { action: 'account.user.set_password', pointer: '#/current' })
  await setPassword(ctx.hub, user, input.new, { actor: ctx.actor, context: ctx.context }, { kept: ctx.sessionId! })
}
