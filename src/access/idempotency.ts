import { and, eq, lt } from 'drizzle-orm'
import { record } from '../core/change'
import { sha256Hex } from '../core/crypto'
import type { Idempotency, StoredAnswer } from '../core/ctx'
import { hubs, idempotencyKeys } from '../core/db/tables'
import { hubTimeoutMs } from '../core/jobs/queue'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'

/** How long an answer can be replayed. */
export const keptMs = 24 * 3600 * 1000

/** 1 to 255 visible ASCII characters (draft-ietf-httpapi-idempotency-key-header). */
const keyForm = /^[\x21-\x7e]{1,255}$/

type Keys = Pick<Idempotency, 'method' | 'path' | 'key'> & { workspaceId: string }

/**
 * Takes the key for a run of the request, or finds the answer of an earlier run.
 * @throws Problem 400 for a key of wrong form, 409 `idempotency_in_progress`, 422 `idempotency_key_reused`
 */
export async function takeKey(hub: Hub, keys: Keys, request: { search: string; body: Uint8Array }): Promise<StoredAnswer | null> {
  if (!keyForm.test(keys.key)) throw new Problem('malformed_request', 'Idempotency-Key: it must be 1 to 255 visible ASCII characters.')
  const fingerprint = sha256Hex(Buffer.concat([Buffer.from(`${keys.method}\n${keys.path}\n${request.search}\n`), request.body]))
  return await record(hub, async tx => {
    const now = hub.clock.now()
    const mine = rowOf(keys)
    await tx.delete(idempotencyKeys).where(and(mine, lt(idempotencyKeys.createdAt, now - keptMs)))
    const [made] = await tx.insert(idempotencyKeys).values({ ...keys, fingerprint, runningIn: hub.id, createdAt: now }).onConflictDoNothing().returning({ key: idempotencyKeys.key })
    if (made) return { result: null }
    const [row] = await tx.select().from(idempotencyKeys).where(mine)
    if (row!.fingerprint !== fingerprint) throw new Problem('idempotency_key_reused', 'This Idempotency-Key was used for another request; take a new one.')
    if (row!.runningIn === null) return { result: { status: row!.status!, body: row!.body!, location: row!.location, etag: row!.etag } }
    if (row!.runningIn === hub.id || (await isAlive(row!.runningIn))) {
      throw new Problem('idempotency_in_progress', 'A request with this Idempotency-Key is still running.', { headers: { 'Retry-After': '1' } })
    }
    // Its process died before the change was committed, so nothing happened and the request may run again.
    await tx.update(idempotencyKeys).set({ runningIn: hub.id }).where(mine)
    return { result: null }

    async function isAlive(id: string): Promise<boolean> {
      const [other] = await tx.select({ seenAt: hubs.seenAt }).from(hubs).where(eq(hubs.id, id))
      return other !== undefined && other.seenAt > now - hubTimeoutMs
    }
  })
}

/** Lets go of a key whose run changed nothing and may be tried again. */
export async function releaseKey(hub: Hub, keys: Keys): Promise<void> {
  await record(hub, async tx => {
    await tx.delete(idempotencyKeys).where(and(rowOf(keys), eq(idempotencyKeys.runningIn, hub.id)))
    return { result: undefined }
  })
}

/** Keeps an answer that was decided outside a change: an error of the handler, or a success that wrote nothing. */
export async function keepAnswer(hub: Hub, keys: Keys, answer: StoredAnswer): Promise<void> {
  await record(hub, async tx => {
    await tx.update(idempotencyKeys).set({ runningIn: null, ...answer }).where(rowOf(keys))
    return { result: undefined }
  })
}

/** Deletes the answers that are past their time. */
export async function pruneKeys(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await tx.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, hub.clock.now() - keptMs))
    return { result: undefined }
  })
}

const rowOf = (keys: Keys) => and(
  eq(idempotencyKeys.workspaceId, keys.workspaceId), eq(idempotencyKeys.method, keys.method),
  eq(idempotencyKeys.path, keys.path), eq(idempotencyKeys.key, keys.key),
)
