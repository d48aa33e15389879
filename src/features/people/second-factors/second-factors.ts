import { eq } from 'drizzle-orm'
import { forgetCallers } from '../../../access/callers'
import { limitGuessing } from '../../../access/limiter'
import { failedCodes, failedCredentials, failedOnDevice, type Bucket } from '../../../access/rate-limits'
import { sessions } from '../../../access/tables'
import { record } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { userPasskeyRequestOptions, verifyPasskey, passkeysOf } from '../passkeys/authentication'
import type { PasskeyAssertion } from '../passkeys/shapes'
import { passkeySite } from '../passkeys/site'
import { passkeys } from '../passkeys/tables'
import { userAudits, type User, type AuditSource, actorOf } from '../users'
import { hasOneTimeCodes, spendCode, removeOneTimeCodes } from './one-time-codes'

/** The second factor sent along with a password. */
export interface SecondFactorInput {
  /** A one-time code or recovery code. */
  code?: string | undefined
  /** A passkey assertion for the options of the `second_factor_required` problem. */
  passkey?: PasskeyAssertion | undefined
}

/**
 * Requires the second factor of a user whose password was correct, if they have one.
 * @param device from `knownDevice`
 * @throws Problem 401 `second_factor_required` with the available methods if none was sent; 401 `invalid_code`,
 *   `invalid_passkey`; 429
 */
export async function requireSecondFactor(ctx: Ctx, user: User, input: SecondFactorInput, device: string | null): Promise<void> {
  if (!(await hasOneTimeCodes(ctx.hub.read, user.id))) return
  // Together, because a client that knows the password could make any number of browsers known.
  const buckets = codeBuckets(ctx, user, device, device && 'known-browsers')
  if (input.passkey !== undefined) return await limitGuessing(ctx.hub, buckets, () => verifyPasskey(ctx, user, input.passkey!))
  if (input.code === undefined) throw await secondFactorRequired(ctx.hub, user)
  await verifyCode(ctx, user, input.code, buckets, async () => {
    await auditWrongCode(ctx, user)
    throw new Problem('invalid_code', 'The code is incorrect, expired, or already used.')
  })
}

async function secondFactorRequired(hub: Hub, user: User): Promise<Problem> {
  const withPasskey = 'rpId' in passkeySite(hub) && (await passkeysOf(hub.read, user.id)).length > 0
  return new Problem('second_factor_required', 'The password is correct, but a second factor is required.', {
    fields: {
      methods: ['one_time_code', 'recovery_code', ...(withPasskey ? ['passkey'] : [])],
      ...(withPasskey && { passkey_options: await userPasskeyRequestOptions(hub, user) }),
    },
  })
}

/**
 * Verifies and uses up a code of the user. A wrong code counts as a failed sign-in and against the user's limit of wrong codes.
 * @param buckets from `codeBuckets`
 * @param refuse throws the error for a wrong code
 * @throws Problem 429, and what `refuse` throws
 */
export async function verifyCode(
  ctx: Ctx,
  user: User,
  code: string,
  buckets: Bucket[],
  refuse: () => Promise<never>,
): Promise<void> {
  await limitGuessing(ctx.hub, buckets, async () => {
    if (!(await spendCode(ctx.hub, user, code, { actor: actorOf(user), context: ctx.context }))) await refuse()
  })
}

/**
 * What a wrong code counts against: the session or known browser if there is one, otherwise the IP address.
 * @param group counts with others of the same name
 */
export function codeBuckets({ hub, context }: Ctx, user: User, device: string | null, group = device): Bucket[] {
  const perMinute = hub.config.failedCredentialsPerMinute
  const guesser = device === null ? failedCredentials(context.ip ?? '', perMinute) : failedOnDevice(user.id, device, perMinute)
  return [guesser, failedCodes(user.id, group)]
}

async function auditWrongCode(ctx: Ctx, user: User): Promise<void> {
  await record(ctx.hub, async tx => {
    const by = { actor: actorOf(user), context: ctx.context }
    const reason = 'The password was correct, but the code was incorrect.'
    return { result: undefined, audits: await userAudits(tx, user, 'account.session.create', by, { outcome: 'failure', reason }) }
  })
}

/**
 * Removes all second factors of a user, including passkeys, because a lost device may be in someone else's hands. Ends all their
 * sessions.
 */
export async function resetFactors(hub: Hub, user: User, by: AuditSource): Promise<void> {
  await record(hub, async tx => {
    await removeOneTimeCodes(tx, user.id)
    await tx.delete(passkeys).where(eq(passkeys.userId, user.id))
    await tx.delete(sessions).where(eq(sessions.userId, user.id))
    return { result: undefined, audits: await userAudits(tx, user, 'account.user.reset_second_factor', by) }
  })
  await forgetCallers(hub)
}
