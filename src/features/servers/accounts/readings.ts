import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { cloudAccounts } from './tables'
import type { CloudAccountRow } from './view'

// Each is one request. If more are missing, the others are confirmed by the next readings.
const maxConfirmed = 20

/** Whether an account is still accessed as when it was read: with other settings, it may be another account. */
export const isSameAccess = (one: Access, other: Access): boolean =>
  one.secretsSealed === other.secretsSealed && isDeepStrictEqual(one.settings, other.settings)
type Access = Pick<CloudAccountRow, 'settings' | 'secretsSealed'>

/** Whether what was read of an account can still be stored. */
export async function isCurrent(tx: Tx, read: CloudAccountRow): Promise<boolean> {
  const { settings, secretsSealed } = cloudAccounts
  const [now] = await tx.select({ settings, secretsSealed }).from(cloudAccounts).where(eq(cloudAccounts.id, read.id))
  return now !== undefined && isSameAccess(now, read)
}

/**
 * Some of a list, others each time, so that those that can't be confirmed don't keep others waiting. Multiples of the golden ratio are
 * spread evenly, however long the list is.
 */
export function someOf<T>(list: readonly T[], turn: number): T[] {
  const from = Math.floor(((turn * 0.618034) % 1) * list.length)
  return [...list.slice(from), ...list.slice(0, from)].slice(0, maxConfirmed)
}
