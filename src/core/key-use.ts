import { eq, sql } from 'drizzle-orm'
import { dataKeyUses } from './db/tables'
import { currentTransaction, type Reader, type Tx } from './db/transaction'
import { newId } from './ids'

/** When a data key seals nothing more. */
export interface KeyBounds {
  /** Milliseconds since it was made. */
  ageMs: number
  /** Values sealed under it. */
  encryptions: number
  /** How many encryptions a process takes for itself at a time: what it has not used when it ends is counted as used. */
  block: number
}

/**
 * AES-GCM with random nonces bears 2^32 encryptions under one key (NIST SP 800-38D section 8.3); ours are replaced at a quarter of
 * that, or after a year.
 */
export const keyBounds: KeyBounds = { ageMs: 365 * 24 * 3_600_000, encryptions: 2 ** 30, block: 2 ** 16 }

interface Block {
  id: string
  used: number
  /** The transaction that wrote it, until it is known to be committed. */
  writtenIn: object | null
}

/**
 * Counts how often each data key has encrypted, over all processes. A process writes a block down before it uses it, in the
 * transaction that stores the first value of it, so that a crash counts too much and never too little.
 */
export class KeyUse {
  private readonly blocks = new Map<string, Block>()

  constructor(private readonly bounds: KeyBounds) {}

  /** Counts one encryption. False when the key has had all it may have: another is to be used. */
  async take(tx: Tx, keyId: string): Promise<boolean> {
    const within = currentTransaction()
    let block = this.blocks.get(keyId)
    // Undone with its transaction, its encryptions happened all the same, and are written down with the next.
    let undone = 0
    if (block && block.writtenIn !== null && block.writtenIn !== within) {
      if (await isThere(tx, block.id)) block.writtenIn = null
      else {
        undone = block.used
        block = undefined
      }
    }
    if (!block || block.used >= this.bounds.block) {
      if ((await encryptionsOf(tx, keyId)) + undone >= this.bounds.encryptions) return false
      block = { id: newId('use'), used: 0, writtenIn: within }
      await tx.insert(dataKeyUses).values({ id: block.id, keyId, encryptions: this.bounds.block + undone })
      this.blocks.set(keyId, block)
    }
    block.used++
    return true
  }
}

/** Encryptions under a data key, rounded up by what its processes have taken and not used yet. */
export async function encryptionsOf(read: Reader, keyId: string): Promise<number> {
  const total = sql<number>`coalesce(sum(${dataKeyUses.encryptions}), 0)`.mapWith(Number)
  const [row] = await read.select({ total }).from(dataKeyUses).where(eq(dataKeyUses.keyId, keyId))
  return row!.total
}

async function isThere(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.select({ id: dataKeyUses.id }).from(dataKeyUses).where(eq(dataKeyUses.id, id))
  return rows.length > 0
}
