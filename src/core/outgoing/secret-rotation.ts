import type { Table } from 'drizzle-orm'
import { instant } from '../clock'
import type { Tx } from '../db/transaction'
import type { Hub } from '../hub'
import { conflict, invalid, type Problem } from '../problem'
import {
  hintOf,
  isRotating,
  liveSecrets,
  noNextSecret,
  onlySecret,
  sealedIn,
  secretOf,
  type SecretColumns,
  type SecretRow,
} from './signing-secrets'

const defaultOverlapSeconds = 86_400

/** A requested rotation. */
interface Rotation {
  secret: string
  /** Whether the caller provided the secret. */
  isOwn: boolean
  /** With 0, the old secret is dropped immediately. */
  overlapMs: number
}

/** @throws Problem 422 */
export const rotationOf = (input: { secret?: string; overlap_seconds?: number }): Rotation => ({
  secret: secretOf(input),
  isOwn: input.secret !== undefined,
  overlapMs: (input.overlap_seconds ?? defaultOverlapSeconds) * 1_000,
})

/** @throws Problem 409 while an earlier rotation is in progress */
export function refuseDuringRotation(row: SecretRow, now: number): void {
  if (!isRotating(row, now)) return
  throw conflict(`A rotation is in progress until ${instant(row.rotatesAt)}. To end it now, call POST …/secret/promote.`)
}

export const noRotation = (): Problem => conflict('No rotation of the signing secret is in progress.')

/**
 * The columns of a row after a rotation at `now` (ms UTC). Refuses a secret that is in use, because a rotation is meant to replace
 * a secret that may have leaked.
 * @throws Problem 422 at `#/secret`
 */
export async function rotatedSecret(
  tx: Tx,
  hub: Hub,
  table: Table,
  row: SecretRow,
  { secret, isOwn, overlapMs }: Rotation,
  now: number,
): Promise<SecretColumns> {
  if (isOwn) {
    const live = await liveSecrets(hub, table, row, now, tx)
    if (secret === live.secret || secret === live.nextSecret)
      throw invalid([{ pointer: '#/secret', code: 'not_changed', detail: 'must differ from the secrets in use.' }])
  }
  if (overlapMs === 0) return await onlySecret(tx, hub, table, row, secret)
  return {
    ...(await promotedSecret(tx, hub, table, row)),
    nextSecretSealed: await hub.keys.seal(tx, sealedIn(table, row, 'next_secret_sealed'), secret),
    nextSecretHint: hintOf(secret),
    rotatesAt: now + overlapMs,
  }
}

/** The columns of a row with the next secret in place of the old one; unchanged if there is no next secret. */
export async function promotedSecret(tx: Tx, hub: Hub, table: Table, row: SecretRow): Promise<SecretColumns> {
  const { secretSealed, secretHint, nextSecretSealed, nextSecretHint } = row
  if (nextSecretSealed === null || nextSecretHint === null) return { secretSealed, secretHint, ...noNextSecret }
  // Encrypted values are bound to their column.
  const next = await hub.keys.open(sealedIn(table, row, 'next_secret_sealed'), nextSecretSealed, tx)
  return {
    secretSealed: await hub.keys.seal(tx, sealedIn(table, row, 'secret_sealed'), next),
    secretHint: nextSecretHint,
    ...noNextSecret,
  }
}
