import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { sealedColumns, type SealedColumn } from './sealed-columns'
import { dataKeysOf, keyIdOf, valuesOf, type SealedValue } from './sealed-values'
import { keyAuditDraft, type KeyActor } from './key-status'

/** Result of a verification. */
interface Verified {
  dataKeys: number
  values: number
  /** Number of decrypted values by column and key. */
  counts: { column: string; keyId: string; values: number }[]
  /** One line per failure, without the content of the value. */
  failures: string[]
}

/** Decrypts all data keys and sealed values, and records it in the audit log. */
export async function verifyKeys(hub: Hub, by: KeyActor): Promise<Verified> {
  const found: Verified = { dataKeys: 0, values: 0, counts: [], failures: [] }
  for await (const batch of dataKeysOf(hub.read)) {
    for (const row of batch) {
      const failure = await failureOf(async () => hub.keys.verify(row))
      if (failure === null) found.dataKeys++
      else found.failures.push(`data key ${row.id}: ${failure}`)
    }
  }
  for (const column of sealedColumns) {
    const counts = new Map<string, number>()
    for await (const batch of valuesOf(hub.read, column)) {
      for (const value of batch) {
        const failure = await failureIn(hub, column, value)
        const keyId = keyIdOf(value.sealed)
        if (failure === null) counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
        else found.failures.push(`${column.name} of ${value.id}: ${failure}`)
      }
    }
    for (const [keyId, values] of counts) {
      found.counts.push({ column: column.name, keyId, values })
      found.values += values
    }
  }
  const outcome = found.failures.length === 0 ? 'success' : 'failure'
  const after = { data_keys: found.dataKeys, values: found.values, failures: found.failures.length }
  await record(hub, async tx => ({
    result: undefined,
    audits: [await keyAuditDraft(tx, by, 'account.secrets.verify', { id: 'all', outcome, after })],
  }))
  return found
}

/**
 * Why a value can't be decrypted, or null. Reads the value again on failure, in case it was changed or deleted in the meantime.
 */
async function failureIn(hub: Hub, column: SealedColumn, value: SealedValue): Promise<string | null> {
  const opened = (sealed: string) => failureOf(() => hub.keys.open(column.place(value.id, value.workspaceId), sealed))
  const failure = await opened(value.sealed)
  if (failure === null) return null
  const [row] = await hub.read.select({ sealed: column.column }).from(column.table).where(eq(column.row, value.id))
  const sealed = row?.sealed as string | null | undefined
  return sealed == null ? null : sealed === value.sealed ? failure : await opened(sealed)
}

async function failureOf(fn: () => Promise<unknown>): Promise<string | null> {
  try {
    await fn()
    return null
  } catch (error) {
    return (error as Error).message
  }
}
