import { and, eq, gt, lte } from 'drizzle-orm'
import { normalizeEmail } from '../../../access/email-address'
import { limiterOf, limitGuessing, countRequest } from '../../../access/limiter'
import { failedCredentials, resetRequests, resetsPerEmail } from '../../../access/rate-limits'
import { users } from '../../../access/tables'
import { record } from '../../../core/change'
import { randomBase62, sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { requireMail } from '../system-mail'
import { userAudits, setPassword, type AuditSource, type User, actorOf } from '../users'
import type { PasswordResetResult, PasswordResetInput, PasswordResetReceipt, PasswordResetRedemption } from './shapes'
import { passwordResets } from './tables'

/** The job that emails a link; its payload is `{email, context}`. */
export const mailResetKind = 'access.mail-password-reset'

/** How long a link works. */
const resetSeconds = 3600

/**
 * Starts a job that emails a password reset link if the email address has an account. The job does the lookup, so that neither
 * the response nor its timing reveals whether it does.
 * @throws Problem 409 `mail_not_set_up`, 429
 */
export async function requestPasswordReset(ctx: Ctx, input: PasswordResetInput): Promise<PasswordResetReceipt> {
  const { hub } = ctx
  requireMail(hub)
  countRequest(hub, resetRequests(ctx.context.ip ?? ''))
  const email = normalizeEmail(input.email)
  // Limits the emails to one address. The response stays the same, so that it does not reveal the limit.
  const { allowed } = limiterOf(hub).take([resetsPerEmail(email)], hub.clock.now())
  const jobs = allowed ? [{ kind: mailResetKind, payload: { email, context: ctx.context } }] : []
  await record(hub, async () => ({ result: undefined, jobs }))
  return { email, expires_in_seconds: resetSeconds }
}

/**
 * Sets a new password, given the code of a link. Ends all sessions and deletes all other links; second factors are kept.
 * @throws Problem 404 if the code does not work, whatever the reason; 422; 429
 */
export async function redeemPasswordReset(ctx: Ctx, { code, password }: PasswordResetRedemption): Promise<PasswordResetResult> {
  const { hub } = ctx
  const buckets = [failedCredentials(ctx.context.ip ?? '', hub.config.failedCredentialsPerMinute)]
  const user = await limitGuessing(hub, buckets, async () => {
    const [found] = await hub.read
      .select({ user: users })
      .from(passwordResets)
      .innerJoin(users, eq(users.id, passwordResets.userId))
      .where(isOpen(hub, code))
    if (!found || found.user.disabledAt !== null) throw invalidLink()
    return found.user
  })
  await setPassword(
    hub,
    user,
    password,
    { actor: actorOf(user), context: ctx.context },
    {
      reason: 'Reset with a password reset link.',
      async before(tx) {
        // Of two concurrent requests, only one finds the link.
        const [used] = await tx.delete(passwordResets).where(isOpen(hub, code)).returning({ userId: passwordResets.userId })
        if (!used) throw invalidLink()
      },
    },
  )
  return { email: user.email, sign_in_url: `${hub.baseUrl}/login` }
}

/** Creates a link on behalf of the operator. @returns the link, which works once, within an hour */
export async function createResetLink(hub: Hub, user: User, by: AuditSource): Promise<string> {
  return await record(hub, async tx => {
    const result = await newReset(tx, hub, user.id)
    return { result, audits: await userAudits(tx, user, 'account.password_reset.create', by) }
  })
}

/** Creates a link. The code is in the fragment, so that it appears in no log and no Referer header. */
export async function newReset(tx: Tx, hub: Hub, userId: string): Promise<string> {
  // 190 bits cannot be guessed, so a plain hash is enough.
  const code = `bw_reset_${randomBase62(32)}`
  const now = hub.clock.now()
  await tx
    .insert(passwordResets)
    .values({ codeHash: sha256Hex(code), userId, createdAt: now, expiresAt: now + resetSeconds * 1000 })
  return `${hub.baseUrl}/reset#${code}`
}

/** Deletes expired links. */
export async function pruneResets(tx: Tx, now: number): Promise<void> {
  await tx.delete(passwordResets).where(lte(passwordResets.expiresAt, now))
}

const isOpen = (hub: Hub, code: string) =>
  and(eq(passwordResets.codeHash, sha256Hex(code)), gt(passwordResets.expiresAt, hub.clock.now()))

const invalidLink = () =>
  new Problem(
    'not_found',
    'This link is invalid: it was used, it is more than an hour old, or it is incomplete. Request a new one.',
  )
