import { eq } from 'drizzle-orm'
import { limitGuessing } from '../../../access/limiter'
import { failedCredentials, failedOnDevice, failedSignIns, failedSignInsOfEmail } from '../../../access/rate-limits'
import { memberships } from '../../../access/tables'
import { operatorWorkspace } from '../../../access/workspaces'
import { record } from '../../../core/change'
import type { AuditDraft } from '../../../core/change-result'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { passkeySite } from '../passkeys/site'
import { verifyPassword } from '../passwords'
import { requireSecondFactor, type SecondFactorInput } from '../second-factors/second-factors'
import { signUpState } from '../sign-up/sign-up'
import { hasMail } from '../system-mail'
import { findUser, type User, hasUsers } from '../users'
import { knownDevice } from './known-devices'
import { createSession, signInAudit, type CreatedSession } from './sessions'
import type { SignInMethods, SignInInput } from './shapes'

/**
 * Signs in with email address and password, and a second factor if the user has one.
 * @throws Problem 401 `invalid_login`, `second_factor_required`, `invalid_code`; 429 after too many failed attempts from the
 *   browser or, if the user has not signed in with it before, from its IP address, even if the password is correct
 */
export async function signIn(ctx: Ctx, input: SignInInput, request: Request): Promise<CreatedSession> {
  return await createSession(ctx, await authenticateUser(ctx, input, request), request)
}

/**
 * Authenticates a user by email address and password. Takes equally long, and is counted and audited in the same way, if there is
 * no such user. Failed attempts elsewhere only delay it, and not even that if the user has signed in with this browser before.
 * @throws Problem 401 `invalid_login`, `second_factor_required`, `invalid_code`; 429
 */
export async function authenticateUser(
  ctx: Ctx,
  input: { email: string; password: string } & SecondFactorInput,
  request: Request,
): Promise<User> {
  const { hub } = ctx
  const perMinute = hub.config.failedCredentialsPerMinute
  const ip = ctx.context.ip ?? ''
  const found = await findUser(hub.read, input.email)
  // Also for unknown users, so that it takes equally long.
  const device = await knownDevice(hub, request, found ?? nobody)
  const check = async () => {
    const right = await verifyPassword(input.password, found?.disabledAt === null ? found.passwordHash : null)
    if (right && found) return found
    await auditFailure(ctx, found)
    throw new Problem('invalid_login', 'Incorrect email or password.')
  }
  const user = await (device === null
    ? limitGuessing(
        hub,
        [failedCredentials(ip, perMinute), failedSignIns(ip, input.email, perMinute)],
        check,
        failedSignInsOfEmail(input.email, perMinute),
      )
    : limitGuessing(hub, [failedOnDevice(found!.id, device, perMinute)], check))
  await requireSecondFactor(ctx, user, input, device)
  return user
}

const nobody = { id: '', passwordHash: '' }

/**
 * Failures for unknown email addresses are audited too, in the operator's log: response times must not reveal which users exist.
 */
async function auditFailure(ctx: Ctx, user: User | null): Promise<void> {
  const { hub } = ctx
  const operators = await operatorWorkspace(hub.read)
  const of = await hub.read
    .select({ id: memberships.workspaceId })
    .from(memberships)
    .where(eq(memberships.userId, user?.id ?? ''))
  const audits: AuditDraft[] =
    user && of.length > 0
      ? of.map(one => signInAudit(ctx, user, one.id, 'failure'))
      : [
          {
            workspaceId: operators.id,
            action: 'account.session.create',
            outcome: 'failure',
            actor: ctx.actor,
            context: ctx.context,
            targets: [],
            reason: 'There is no user with this email address.',
          },
        ]
  await record(hub, async () => ({ result: undefined, audits }))
}

/** The sign-in methods of this hub, for the sign-in page. */
export async function signInMethods(hub: Hub): Promise<SignInMethods> {
  const site = passkeySite(hub)
  return {
    setup_open: !(await hasUsers(hub.read)),
    passkeys:
      'rpId' in site
        ? { available: true, rp_id: site.rpId, origin: site.origin, reason: null }
        : { available: false, rp_id: null, origin: null, reason: site.reason },
    password_reset_by_mail: hasMail(hub),
    sign_up: await signUpState(hub),
  }
}
