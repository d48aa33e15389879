import { and, count, eq, isNull } from 'drizzle-orm'
import { hmacSha256, randomOf } from '../core/crypto'
import type { Reader, Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { recoveryCodes } from './tables'

/** How many somebody gets at once. */
const howMany = 10
/** Crockford's base32 has no letter that is taken for a digit. Ten characters are 50 bits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 10

/** Gives a user ten recovery codes, of the form `xxxxx-xxxxx`; those they had before stop working. */
export async function renewRecoveryCodes(tx: Tx, hub: Hub, userId: string): Promise<string[]> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  const codes = Array.from({ length: howMany }, () => randomOf(alphabet, length))
  await tx.insert(recoveryCodes).values(codes.map(code => ({ userId, tag: tagOf(hub, userId, code), usedAt: null })))
  return codes.map(code => `${code.slice(0, 5)}-${code.slice(5)}`)
}

/** Uses up a recovery code, in capitals or not, with its hyphen or without. @returns whether it was one, and new */
export async function spendRecoveryCode(tx: Tx, hub: Hub, userId: string, given: string): Promise<boolean> {
  const code = given.replaceAll(/[\s-]/g, '').toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1')
  if (code.length !== length) return false
  const spent = await tx
    .update(recoveryCodes)
    .set({ usedAt: hub.clock.now() })
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.tag, tagOf(hub, userId, code)), isNull(recoveryCodes.usedAt)))
    .returning({ tag: recoveryCodes.tag })
  return spent.length > 0
}

export async function recoveryCodesLeft(read: Reader, userId: string): Promise<number> {
  const [row] = await read
    .select({ n: count() })
    .from(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), isNull(recoveryCodes.usedAt)))
  return row!.n
}

/** They are short enough to be tried out against a plain hash: this one takes the key of the installation. */
const tagOf = (hub: Hub, userId: string, code: string): string =>
  Buffer.from(hmacSha256(hub.keys.derive('recovery-codes'), `${userId} ${code}`)).toString('hex')
