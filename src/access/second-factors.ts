import { record } from '../core/change'
import type { Ctx } from '../core/ctx'
import type { AuditActor } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { unlessGuessing } from './limiter'
import { hasOneTimeCodes, spendCode } from './one-time-codes'
import { passkeyRequestOf, provePasskey } from './passkey-answers'
import type { CredentialAnswer } from './passkey-shapes'
import { passkeySite } from './passkey-site'
import { passkeysOf } from './passkey-rows'
import { failedCodes, failedCredentials, failedLogins, type Bucket } from './rate-limits'
import { auditOfUser, type User } from './users'

/** What somebody sends beside their password. */
export interface GivenFactor {
  /** Of the program for one-time codes, or a recovery code. */
  code?: string | undefined
  /** The answer of a passkey of theirs to what they were asked. */
  passkey?: CredentialAnswer | undefined
}

/**
 * Holds somebody whose password was right to their second factor; passes who has none.
 * @throws Problem 401 `second_factor_required` where nothing was sent, with what can be; 401 `invalid_code`, `invalid_passkey`; 429
 */
export async function requireSecondFactor(ctx: Ctx, user: User, given: GivenFactor): Promise<void> {
  if (!(await hasOneTimeCodes(ctx.hub.read, user.id))) return
  if (given.passkey !== undefined)
    return await unlessGuessing(ctx.hub, codeBuckets(ctx, user), () => provePasskey(ctx, user, given.passkey!))
  if (given.code === undefined) throw await whatIsMissing(ctx.hub, user)
  await proveCode(ctx, user, given.code, async () => {
    await auditWrongCode(ctx, user)
    throw new Problem('invalid_code', 'The code is wrong, too old, or was used already.')
  })
}

async function whatIsMissing(hub: Hub, user: User): Promise<Problem> {
  const withPasskey = 'rpId' in passkeySite(hub) && (await passkeysOf(hub.read, user.id)).length > 0
  return new Problem('second_factor_required', 'The password is right; send a second factor along.', {
    members: {
      methods: ['one_time_code', 'recovery_code', ...(withPasskey ? ['passkey'] : [])],
      ...(withPasskey && { passkey_options: await passkeyRequestOf(hub, user) }),
    },
  })
}

/**
 * Uses a code of the user up: each works once. A wrong one counts like a wrong password, and against the few that a user has.
 * @param refuse for a wrong one; it throws
 * @throws Problem 429, and what `refuse` throws
 */
export async function proveCode(ctx: Ctx, user: User, code: string, refuse: () => Promise<never>): Promise<void> {
  await unlessGuessing(ctx.hub, codeBuckets(ctx, user), async () => {
    if (!(await spendCode(ctx.hub, user, code, { actor: actorOf(user), context: ctx.context }))) await refuse()
  })
}

/** What a wrong code counts against: the address, the login, and the few tries that a user has. */
export function codeBuckets({ hub, context }: Ctx, user: User): Bucket[] {
  const most = hub.config.failedCredentialsPerMinute
  return [failedCredentials(context.ip ?? '', most), failedLogins(user.email, most), failedCodes(user.id)]
}

const actorOf = (user: User): AuditActor => ({ type: 'user', id: user.id, name: user.name, hint: null })

async function auditWrongCode(ctx: Ctx, user: User): Promise<void> {
  await record(ctx.hub, async tx => {
    const audits = await auditOfUser(tx, user, 'account.session.create', { actor: actorOf(user), context: ctx.context })
    const reason = 'The password was right, and the code was wrong.'
    return { result: undefined, audits: audits.map(one => ({ ...one, outcome: 'failure' as const, reason })) }
  })
}
