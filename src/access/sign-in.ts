import { eq } from 'drizzle-orm'
import { record, type AuditDraft } from '../core/change'
import type { Ctx } from '../core/ctx'
import { Problem } from '../core/problem'
import { unlessGuessing } from './limiter'
import { verifyPassword } from './passwords'
import { failedCredentials, failedLogins } from './rate-limits'
import { requireSecondFactor, type GivenFactor } from './second-factors'
import type { SignIn } from './session-shapes'
import { beginSession, signInEntry, type BegunSession } from './sessions'
import { memberships } from './tables'
import { findUser, type User } from './users'
import { operatorWorkspace } from './workspaces'

/**
 * Signs in by e-mail and password, and a second factor where the user has one.
 * @throws Problem 401 `invalid_login`, `second_factor_required`, `invalid_code`; 429 after too many wrong ones from one address or
 *   for one login, the right one too
 */
export async function signIn(ctx: Ctx, input: SignIn, request: Request): Promise<BegunSession> {
  return await beginSession(ctx, await provenUser(ctx, input), request)
}

/**
 * The user whose e-mail and password these are. It takes as long, and is counted and written down alike, where there is none.
 * @throws Problem 401 `invalid_login`, `second_factor_required`, `invalid_code`; 429
 */
export async function provenUser(ctx: Ctx, input: { email: string; password: string } & GivenFactor): Promise<User> {
  const { hub } = ctx
  const most = hub.config.failedCredentialsPerMinute
  const buckets = [failedCredentials(ctx.context.ip ?? '', most), failedLogins(input.email, most)]
  const user = await unlessGuessing(hub, buckets, async () => {
    const found = await findUser(hub.read, input.email)
    const right = await verifyPassword(input.password, found?.disabledAt === null ? found.passwordHash : null)
    if (right && found) return found
    await auditFailure(ctx, found)
    throw new Problem('invalid_login', 'E-mail or password is wrong.')
  })
  await requireSecondFactor(ctx, user, input)
  return user
}

/** A login that does not exist is written down as well, in the operator's log: the time of an answer must not tell which exist. */
async function auditFailure(ctx: Ctx, user: User | null): Promise<void> {
  const { hub } = ctx
  const operators = await operatorWorkspace(hub.read)
  const of = await hub.read
    .select({ id: memberships.workspaceId })
    .from(memberships)
    .where(eq(memberships.userId, user?.id ?? ''))
  const audits: AuditDraft[] =
    user && of.length > 0
      ? of.map(one => signInEntry(ctx, user, one.id, 'failure'))
      : [
          {
            workspaceId: operators.id,
            action: 'account.session.create',
            outcome: 'failure',
            actor: ctx.actor,
            context: ctx.context,
            targets: [],
            reason: 'There is no such login.',
          },
        ]
  await record(hub, async () => ({ result: undefined, audits }))
}
