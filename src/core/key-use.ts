import { eq, sql } from 'drizzle-orm'
import { dataKeyUses } from './db/tables'
import { currentTransaction, type Reader, type Tx } from './db/transaction'
import { newId } from './ids'

/** When a data key is no longer used for encryption. */
export interface KeyLimits {
  /** Maximum age in milliseconds. */
  ageMs: number
  /** Maximum number of encryptions. */
  encryptions: number
  /** How many encryptions a process reserves at a time. Unused ones count as used when it exits. */
  block: number
}

/**
 * AES-GCM with random nonces allows 2^32 encryptions with one key (NIST SP 800-38D section 8.3). Keys are replaced after a
 * quarter of that, or after a year.
 */
export const keyLimits: KeyLimits = { ageMs: 365 * 24 * 3_600_000, encryptions: 2 ** 30, block: 2 ** 16 }

interface Block {
  id: string
  used: number
  /** The transaction that stored it, until it is known to be committed. */
  writtenIn: object | null
}

/**
 * Counts the encryptions with each data key, across all processes. A process reserves a block before it uses it, in the
 * transaction that stores the first encrypted value. So after a crash the count is too high, but never too low.
 */
export class KeyUse {
  private readonly blocks = new Map<string, Block>()

  constructor(private readonly bounds: KeyLimits) {}

  /** Counts one encryption. False if the key has reached its limit, and another key must be used. */
  async count(tx: Tx, keyId: string): Promise<boolean> {
    const current = currentTransaction()
    let block = this.blocks.get(keyId)
    // If the transaction was rolled back, its encryptions still happened: add them to the next block.
    let rolledBack = 0
    if (block && block.writtenIn !== null && block.writtenIn !== current) {
      if (await exists(tx, block.id)) block.writtenIn = null
      else {
        rolledBack = block.used
        block = undefined
      }
    }
    if (!block || block.used >= this.bounds.block) {
      if ((await encryptionsOf(tx, keyId)) + rolledBack >= this.bounds.encryptions) return false
      block = { id: newId('use'), used: 0, writtenIn: current }
      await tx.insert(dataKeyUses).values({ id: block.id, keyId, encryptions: this.bounds.block + rolledBack })
      this.blocks.set(keyId, block)
    }
    block.used++
    return true
  }
}

/** Number of encryptions with a data key, including those reserved and not used yet. */
export async function encryptionsOf(read: Reader, keyId: string): Promise<number> {
  const total = sql<number>`coalesce(sum(${dataKeyUses.encryptions}), 0)`.mapWith(Number)
  const [row] = await read.select({ total }).from(dataKeyUses).where(eq(dataKeyUses.keyId, keyId))
  return row!.total
}

async function exists(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.select({ id: dataKeyUses.id }).from(dataKeyUses).where(eq(dataKeyUses.id, id))
  return rows.length > 0
}
