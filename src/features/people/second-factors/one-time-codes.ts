import { and, eq, isNotNull, isNull, lt, or } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { record } from '../../../core/change'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { Place } from '../../../core/secrets'
import { userAudits, type AuditSource, type User } from '../users'
import { remainingRecoveryCodes, spendRecoveryCode } from './recovery-codes'
import { oneTimeCodes, recoveryCodes } from './tables'

type Row = typeof oneTimeCodes.$inferSelect

// What every authenticator app supports: RFC 6238 with the parameters of its section 4 and of RFC 4226 section 5.3.
const parameters = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Length of a secret in bytes, equal to the hash length (RFC 4226 section 4, R6). */
const secretBytes = 20
/** How many time steps before and after the current one are accepted, because clocks differ (RFC 6238 section 5.2). */
const window = 1

/** Whether a user has enabled one-time codes, so that the password alone is not enough to sign in. */
export const hasOneTimeCodes = async (read: Reader, userId: string): Promise<boolean> =>
  (await oneTimeCodesSince(read, userId)) !== null

/** When a user enabled one-time codes (ms UTC); null if they are disabled. */
export const oneTimeCodesSince = async (read: Reader, userId: string): Promise<number | null> =>
  (await confirmedCodes(read, userId))?.confirmedAt ?? null

/** Whether one-time codes are enabled, and how many recovery codes remain. */
export async function oneTimeCodesOf(read: Reader, userId: string): Promise<{ enabled: boolean; remaining: number }> {
  const on = await hasOneTimeCodes(read, userId)
  return { enabled: on, remaining: on ? await remainingRecoveryCodes(read, userId) : 0 }
}

async function confirmedCodes(read: Reader, userId: string): Promise<Row | null> {
  const [row] = await read
    .select()
    .from(oneTimeCodes)
    .where(and(eq(oneTimeCodes.userId, userId), isNotNull(oneTimeCodes.confirmedAt)))
  return row ?? null
}

/** Disables one-time codes and deletes the recovery codes. */
export async function removeOneTimeCodes(tx: Tx, userId: string): Promise<void> {
  await tx.delete(oneTimeCodes).where(eq(oneTimeCodes.userId, userId))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
}

/** A new secret in base32 (RFC 4648 section 6). */
export const newSecret = (): string => new Secret({ size: secretBytes }).base32

/** The URI that authenticator apps read from a QR code: `otpauth://totp/…`. */
export const setupUri = (hub: Hub, user: User, secret: string): string =>
  new TOTP({ ...parameters, issuer: `Bailiwick ${new URL(hub.baseUrl).hostname}`, label: user.email, secret }).toString()

/** Where the sealed secret of a user is stored. */
export const secretPlace = ({ userId, workspaceId }: Pick<Row, 'userId' | 'workspaceId'>): Place => ({
  table: 'one_time_codes',
  column: 'secret_sealed',
  row: userId,
  workspaceId,
})

/**
 * Uses a code of a secret. Each time step can be used once, and earlier steps no longer (RFC 6238 section 5.2).
 * @returns whether the code was correct and unused
 */
export async function spendStep(tx: Tx, hub: Hub, row: Row, code: string): Promise<boolean> {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return false
  const secret = Secret.fromBase32(await hub.keys.open(secretPlace(row), row.secretSealed, tx))
  const timestamp = hub.clock.now()
  const delta = TOTP.validate({ ...parameters, token, secret, timestamp, window })
  if (delta === null) return false
  const step = TOTP.counter({ period: parameters.period, timestamp }) + delta
  // Of two concurrent requests with the same code, the second finds the step used.
  const spent = await tx
    .update(oneTimeCodes)
    .set({ lastStep: step })
    .where(and(eq(oneTimeCodes.userId, row.userId), or(isNull(oneTimeCodes.lastStep), lt(oneTimeCodes.lastStep, step))))
    .returning({ userId: oneTimeCodes.userId })
  return spent.length > 0
}

/**
 * Uses a code of the user: a one-time code or a recovery code. The use of a recovery code is audited.
 * @returns whether the code was correct and unused
 */
export async function spendCode(hub: Hub, user: User, code: string, by: AuditSource): Promise<boolean> {
  return await record(hub, async tx => {
    const row = await confirmedCodes(tx, user.id)
    if (!row) return { result: false }
    if (await spendStep(tx, hub, row, code)) return { result: true }
    if (!(await spendRecoveryCode(tx, hub, user.id, code))) return { result: false }
    const remaining = await remainingRecoveryCodes(tx, user.id)
    const reason = `Remaining recovery codes: ${remaining}.`
    return { result: true, audits: await userAudits(tx, user, 'account.recovery_code.use', by, { reason }) }
  })
}
