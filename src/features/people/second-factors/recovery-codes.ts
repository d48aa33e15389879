import { and, count, eq, isNull } from 'drizzle-orm'
import { hmacSha256, randomOf } from '../../../core/crypto'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { recoveryCodes } from './tables'

/** Number of recovery codes of a user. */
const codeCount = 10
/** Crockford's base32 has no letter that looks like a digit. Ten characters have 50 bits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 10

/** Creates ten recovery codes of the form `xxxxx-xxxxx` for a user, replacing the previous ones. */
export async function renewRecoveryCodes(tx: Tx, hub: Hub, userId: string): Promise<string[]> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  const codes = Array.from({ length: codeCount }, () => randomOf(alphabet, length))
  await tx.insert(recoveryCodes).values(codes.map(code => ({ userId, tag: tagOf(hub, userId, code), usedAt: null })))
  return codes.map(code => `${code.slice(0, 5)}-${code.slice(5)}`)
}

/** Uses a recovery code, ignoring case and hyphens. @returns whether it was valid and unused */
export async function spendRecoveryCode(tx: Tx, hub: Hub, userId: string, input: string): Promise<boolean> {
  const code = input.replaceAll(/[\s-]/g, '').toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1')
  if (code.length !== length) return false
  const spent = await tx
    .update(recoveryCodes)
    .set({ usedAt: hub.clock.now() })
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.tag, tagOf(hub, userId, code)), isNull(recoveryCodes.usedAt)))
    .returning({ tag: recoveryCodes.tag })
  return spent.length > 0
}

export async function remainingRecoveryCodes(read: Reader, userId: string): Promise<number> {
  const [row] = await read
    .select({ n: count() })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))
  return row!.n
}

/** The codes are short enough to brute-force a plain hash, so this one uses a key of the installation. */
const tagOf = (hub: Hub, userId: string, code: string): string =>
  Buffer.from(hmacSha256(hub.keys.derive('recovery-codes'), `${userId} ${code}`)).toString('hex')
