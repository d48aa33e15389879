import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { sealedColumns, type SealedColumn } from './sealed-columns'
import { dataKeysOf, keyIdOf, valuesOf, type SealedValue } from './sealed-values'
import { keysEntry, type By } from './standing'

/** What opened and what did not. */
export interface Verified {
  dataKeys: number
  values: number
  /** Values that opened, by column and key. */
  counts: { column: string; keyId: string; values: number }[]
  /** A line for each that did not, without anything of its content. */
  failures: string[]
}

/** Opens every data key and every sealed value, and writes into the audit log that it was done. */
export async function verifyKeys(hub: Hub, by: By): Promise<Verified> {
  const found: Verified = { dataKeys: 0, values: 0, counts: [], failures: [] }
  for await (const batch of dataKeysOf(hub.read)) {
    for (const row of batch) {
      const failure = await failureOf(async () => hub.keys.check(row))
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
    audits: [await keysEntry(tx, by, 'account.secrets.verify', { id: 'all', outcome, after })],
  }))
  return found
}

/** Why a value does not open, or null. One that was changed or deleted since it was read is looked at again. */
async function failureIn(hub: Hub, of: SealedColumn, value: SealedValue): Promise<string | null> {
  const opened = (sealed: string) => failureOf(() => hub.keys.open(of.place(value.id, value.workspaceId), sealed))
  const failure = await opened(value.sealed)
  if (failure === null) return null
  const [row] = await hub.read.select({ sealed: of.column }).from(of.table).where(eq(of.row, value.id))
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
