import { getTableName, type Table } from 'drizzle-orm'
import { instant } from '../clock'
import type { Reader, Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { invalid } from '../problem'
import type { Place } from '../secrets'
import { checkSecret, InvalidSecret, newSecret } from './sign'

/** The columns that `secretColumns` defines. */
export interface SecretColumns {
  secretSealed: string
  secretHint: string
  nextSecretSealed: string | null
  nextSecretHint: string | null
  rotatesAt: number | null
}
type Owner = { id: string; workspaceId: string }
/** A row with a signing secret. */
export type SecretRow = Owner & SecretColumns

/** Where an encrypted value of a row is stored. */
export const sealedIn = (table: Table, { id, workspaceId }: Owner, column: `${string}_sealed`): Place => ({
  table: getTableName(table),
  column,
  row: id,
  workspaceId,
})

/** A masked secret that shows the last four characters. */
export const hintOf = (secret: string): string => `whsec_…${secret.slice(-4)}`

/**
 * Returns the caller's own secret, or generates one.
 * @throws Problem 422
 */
export function secretOf(input: { secret?: string }): string {
  if (input.secret === undefined) return newSecret()
  try {
    checkSecret(input.secret)
  } catch (error) {
    if (error instanceof InvalidSecret) throw invalid([{ pointer: '#/secret', code: 'format', detail: error.message }])
    throw error
  }
  return input.secret
}

export const noNextSecret = { nextSecretSealed: null, nextSecretHint: null, rotatesAt: null }

/** The columns of a row with `secret` as its only secret. */
export const onlySecret = async (tx: Tx, hub: Hub, table: Table, row: Owner, secret: string): Promise<SecretColumns> => ({
  secretSealed: await hub.keys.seal(tx, sealedIn(table, row, 'secret_sealed'), secret),
  secretHint: hintOf(secret),
  ...noNextSecret,
})

/**
 * Whether two secrets are valid at `now` (ms UTC). The overlap ends at its exact time, even if the row still has the old secret.
 */
export const isRotating = ({ rotatesAt }: Pick<SecretColumns, 'rotatesAt'>, now: number): boolean =>
  rotatesAt !== null && now < rotatesAt

/** The `secretHints` of a row at `now` (ms UTC), as the API returns them. */
export function secretHintsOf(row: SecretColumns, now: number) {
  const rotating = isRotating(row, now)
  return {
    secret_hint: rotating ? row.secretHint : (row.nextSecretHint ?? row.secretHint),
    next_secret_hint: rotating ? row.nextSecretHint : null,
    overlap_ends_at: rotating ? instant(row.rotatesAt) : null,
  }
}

/**
 * Returns the secrets that sign messages at `now` (ms UTC): the old and the next one during an overlap, otherwise the current one.
 * @throws DecryptionFailed
 */
export async function liveSecrets(
  hub: Hub,
  table: Table,
  row: SecretRow,
  now: number,
  read?: Reader,
): Promise<{ secret: string; nextSecret: string | null }> {
  const next = row.nextSecretSealed === null ? null : await opened(hub, table, row, 'next_secret_sealed', read)
  if (next !== null && !isRotating(row, now)) return { secret: next, nextSecret: null }
  return { secret: await opened(hub, table, row, 'secret_sealed', read), nextSecret: next }
}

// Many messages are signed with the same loaded row.
const openedOf = new WeakMap<SecretRow, Map<string, Promise<string>>>()

function opened(
  hub: Hub,
  table: Table,
  row: SecretRow,
  column: 'secret_sealed' | 'next_secret_sealed',
  read?: Reader,
): Promise<string> {
  let all = openedOf.get(row)
  if (!all) openedOf.set(row, (all = new Map()))
  let secret = all.get(column)
  if (!secret) {
    const sealed = column === 'secret_sealed' ? row.secretSealed : row.nextSecretSealed!
    all.set(column, (secret = hub.keys.open(sealedIn(table, row, column), sealed, read)))
  }
  return secret
}
