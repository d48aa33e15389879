import { and, eq, isNotNull, isNull, lt, or } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { record } from '../core/change'
import type { Reader, Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import type { Place } from '../core/secrets'
import { recoveryCodesLeft, spendRecoveryCode } from './recovery-codes'
import { oneTimeCodes, recoveryCodes } from './tables'
import { auditOfUser, type By, type User } from './users'

type Row = typeof oneTimeCodes.$inferSelect

// What every program for one-time codes takes: RFC 6238 with the parameters of its section 4 and of RFC 4226 section 5.3.
const form = { algorithm: 'SHA1', digits: 6, period: 30 } as const
/** Bytes of a secret: as many as the hash has (RFC 4226 section 4, R6). */
const secretBytes = 20
/** Steps to each side of now in which a code is taken: clocks differ (RFC 6238 section 5.2). */
const window = 1

/** Whether somebody has one-time codes that were confirmed, so that their password alone signs in no more. */
export const hasOneTimeCodes = async (read: Reader, userId: string): Promise<boolean> =>
  (await confirmedCodes(read, userId)) !== null

/** How many recovery codes are left to whom; none where one-time codes are off. */
export async function oneTimeCodesOf(read: Reader, userId: string): Promise<{ on: boolean; left: number }> {
  const on = await hasOneTimeCodes(read, userId)
  return { on, left: on ? await recoveryCodesLeft(read, userId) : 0 }
}

async function confirmedCodes(read: Reader, userId: string): Promise<Row | null> {
  const [row] = await read
    .select()
    .from(oneTimeCodes)
    .where(and(eq(oneTimeCodes.userId, userId), isNotNull(oneTimeCodes.confirmedAt)))
  return row ?? null
}

/** Turns one-time codes off; recovery codes go with them. */
export async function removeOneTimeCodes(tx: Tx, userId: string): Promise<void> {
  await tx.delete(oneTimeCodes).where(eq(oneTimeCodes.userId, userId))
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
}

/** A new secret in base32 (RFC 4648 section 6). */
export const newSecret = (): string => new Secret({ size: secretBytes }).base32

/** The address that a program for one-time codes takes, as a QR code: `otpauth://totp/…`. */
export const addressOf = (hub: Hub, user: User, secret: string): string =>
  new TOTP({ ...form, issuer: `Bailiwick ${new URL(hub.baseUrl).hostname}`, label: user.email, secret }).toString()

/** Where the secret of a user lies. */
export const placeOf = ({ userId, workspaceId }: Pick<Row, 'userId' | 'workspaceId'>): Place => ({
  table: 'one_time_codes',
  column: 'secret_sealed',
  row: userId,
  workspaceId,
})

/**
 * Uses up a code of a secret. A step of time is used once, and none before it any more (RFC 6238 section 5.2).
 * @returns whether it was right, and new
 */
export async function spendStep(tx: Tx, hub: Hub, row: Row, code: string): Promise<boolean> {
  const token = code.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return false
  const secret = Secret.fromBase32(await hub.keys.open(placeOf(row), row.secretSealed, tx))
  const timestamp = hub.clock.now()
  const delta = TOTP.validate({ ...form, token, secret, timestamp, window })
  if (delta === null) return false
  const step = TOTP.counter({ period: form.period, timestamp }) + delta
  // Of two that come together with one code the second finds the step used.
  const spent = await tx
    .update(oneTimeCodes)
    .set({ lastStep: step })
    .where(and(eq(oneTimeCodes.userId, row.userId), or(isNull(oneTimeCodes.lastStep), lt(oneTimeCodes.lastStep, step))))
    .returning({ userId: oneTimeCodes.userId })
  return spent.length > 0
}

/**
 * Uses up a code of the user: one of their program, or a recovery code, which is written into the audit log.
 * @returns whether it was right, and new
 */
export async function spendCode(hub: Hub, user: User, code: string, by: By): Promise<boolean> {
  return await record(hub, async tx => {
    const row = await confirmedCodes(tx, user.id)
    if (!row) return { result: false }
    if (await spendStep(tx, hub, row, code)) return { result: true }
    if (!(await spendRecoveryCode(tx, hub, user.id, code))) return { result: false }
    const left = await recoveryCodesLeft(tx, user.id)
    const audits = await auditOfUser(tx, user, 'account.recovery_code.use', by)
    return { result: true, audits: audits.map(one => ({ ...one, reason: `Recovery codes that are left: ${left}.` })) }
  })
}
