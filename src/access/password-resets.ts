import { and, eq, gt, lte } from 'drizzle-orm'
import { record } from '../core/change'
import { randomBase62, sha256Hex } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { Problem, tryAgain } from '../core/problem'
import { limiterOf, unlessGuessing } from './limiter'
import { loginOf } from './logins'
import { requireMail } from './mails'
import type { PasswordResetDone, PasswordResetInput, PasswordResetReceipt, Redemption } from './password-reset-shapes'
import { failedCredentials, resetsAsked, resetsOfLogin } from './rate-limits'
import { passwordResets, users } from './tables'
import { auditOfUser, setPassword, type By, type User } from './users'

/** The job that mails a link, `{email, context}`. */
export const mailResetKind = 'access.mail-password-reset'

/** How long a link works. */
export const resetSeconds = 3600

/**
 * Has a link mailed to whoever has the login. Where nobody has it nothing is sent, and neither the answer nor its time tells so: the
 * job looks for them.
 * @throws Problem 409 `mail_not_set_up`, 429
 */
export async function requestPasswordReset(ctx: Ctx, input: PasswordResetInput): Promise<PasswordResetReceipt> {
  const { hub } = ctx
  requireMail(hub)
  const now = hub.clock.now()
  const verdict = limiterOf(hub).take(resetsAsked(ctx.context.ip ?? ''), now)
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
  const email = loginOf(input.email)
  // Nobody's mailbox is to be filled; that it is not filled any more is not for the answer to tell.
  const { allowed } = limiterOf(hub).take([resetsOfLogin(email)], now)
  const jobs = allowed ? [{ kind: mailResetKind, payload: { email, context: ctx.context } }] : []
  await record(hub, async () => ({ result: undefined, jobs }))
  return { email, expires_in_seconds: resetSeconds }
}

/**
 * Sets a new password by the code of a link. Every session ends, and every other link; second factors stay.
 * @throws Problem 404 for a code that does not work, whatever the reason; 422; 429
 */
export async function redeemPasswordReset(ctx: Ctx, { code, password }: Redemption): Promise<PasswordResetDone> {
  const { hub } = ctx
  const buckets = [failedCredentials(ctx.context.ip ?? '', hub.config.failedCredentialsPerMinute)]
  const user = await unlessGuessing(hub, buckets, async () => {
    const [found] = await hub.read
      .select({ user: users })
      .from(passwordResets)
      .innerJoin(users, eq(users.id, passwordResets.userId))
      .where(isOpen(hub, code))
    if (!found || found.user.disabledAt !== null) throw notOpen()
    return found.user
  })
  await setPassword(
    hub,
    user,
    password,
    { actor: { type: 'user', id: user.id, name: user.name, hint: null }, context: ctx.context },
    {
      reason: 'By a link to a new password.',
      async before(tx) {
        // Of two that come together one alone finds it open.
        const [used] = await tx.delete(passwordResets).where(isOpen(hub, code)).returning({ userId: passwordResets.userId })
        if (!used) throw notOpen()
      },
    },
  )
  return { email: user.email, sign_in_url: `${hub.baseUrl}/login` }
}

/** Makes a link for a person whom the operator helps. @returns the link, which works once, for an hour */
export async function makeResetLink(hub: Hub, user: User, by: By): Promise<string> {
  return await record(hub, async tx => {
    const result = await newReset(tx, hub, user.id)
    return { result, audits: await auditOfUser(tx, user, 'account.password_reset.create', by) }
  })
}

/** A new link of a user. The code stands behind `#`, so that it is in no log and in no Referer header. */
export async function newReset(tx: Tx, hub: Hub, userId: string): Promise<string> {
  // 190 bits: nobody guesses one, so its plain hash is what is looked up.
  const code = `bw_reset_${randomBase62(32)}`
  const now = hub.clock.now()
  await tx
    .insert(passwordResets)
    .values({ codeHash: sha256Hex(code), userId, createdAt: now, expiresAt: now + resetSeconds * 1000 })
  return `${hub.baseUrl}/reset#${code}`
}

/** Forgets links whose time is over. */
export async function pruneResets(tx: Tx, now: number): Promise<void> {
  await tx.delete(passwordResets).where(lte(passwordResets.expiresAt, now))
}

const isOpen = (hub: Hub, code: string) =>
  and(eq(passwordResets.codeHash, sha256Hex(code)), gt(passwordResets.expiresAt, hub.clock.now()))

const notOpen = () =>
  new Problem(
    'not_found',
    'This link does not work: it was used, is more than an hour old, or its code was cut. Ask for a new one.',
  )
