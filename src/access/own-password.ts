import { record } from '../core/change'
import type { Ctx } from '../core/ctx'
import { invalid, notFound } from '../core/problem'
import { unlessGuessing } from './limiter'
import { refuseLoginAsPassword, verifyPassword } from './passwords'
import { failedCredentials, failedLogins } from './rate-limits'
import { signedInUser } from './sessions'
import type { PasswordChange } from './shapes'
import { auditOfUser, setPassword } from './users'

/**
 * Gives the user of the session another password. Their other sessions end; the one that asks goes on. A wrong current password
 * counts like a wrong login: whoever found an open browser must not guess it here.
 * @throws Problem 404 for a token, 422, 429
 */
export async function changePassword(ctx: Ctx, input: PasswordChange): Promise<void> {
  const { hub } = ctx
  if (ctx.sessionId === null) throw notFound('session')
  const user = await signedInUser(ctx)
  const by = { actor: ctx.actor, context: ctx.context }
  refuseLoginAsPassword(user.email, input.new, '#/new')
  if (input.new === input.current)
    throw invalid([{ pointer: '#/new', code: 'not_changed', detail: 'must be another password than the current one.' }])
  const most = hub.config.failedCredentialsPerMinute
  const buckets = [failedCredentials(ctx.context.ip ?? '', most), failedLogins(user.email, most)]
  await unlessGuessing(hub, buckets, async () => {
    if (await verifyPassword(input.current, user.passwordHash)) return
    await record(hub, async tx => {
      const audits = await auditOfUser(tx, user, 'account.user.set_password', by)
      return { result: undefined, audits: audits.map(one => ({ ...one, outcome: 'failure' as const, reason: wrong })) }
    })
    throw invalid([{ pointer: '#/current', code: 'wrong_password', detail: 'is not the password.' }])
  })
  await setPassword(hub, user, input.new, by, ctx.sessionId)
}

const wrong = 'The current password was wrong.'
