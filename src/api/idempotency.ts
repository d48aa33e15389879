import { and, eq, lt } from 'drizzle-orm'
import { record, idempotencyInProgress } from '../core/change'
import { sha256Hex } from '../core/crypto'
import type { Idempotency, StoredResponse } from '../core/ctx'
import { hubs, idempotencyKeys } from '../core/db/tables'
import { deleteHeld, findKey, insertKey, storeResponseOf, type HeldRow, type KeyRow } from '../core/idempotency-rows'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { liveSince } from '../core/live-hubs'
import { Problem } from '../core/problem'

/** How long a response can be replayed. */
export const retentionMs = 24 * 3600 * 1000

type Keys = Pick<Idempotency, 'method' | 'path' | 'key'> & { workspaceId: string }

// The keys that are running in this process. A row whose key is not in here is left over: its release failed.
const running = new WeakMap<Hub, Set<string>>()

/**
 * Claims the key for a run of the request, or returns the response of an earlier run. If the result is null, the caller runs the
 * request and calls `endRun` afterwards.
 * @throws Problem 409 `idempotency_in_progress`, 422 `idempotency_key_reused`
 */
export async function claimKey(
  hub: Hub,
  keys: Keys,
  request: { search: string; body: Uint8Array },
): Promise<StoredResponse | null> {
  const runningHere = keysRunningIn(hub)
  const busy = runningHere.has(keyName(keys))
  if (busy) return await findOrClaim(hub, keys, fingerprintOf(keys, request), true)
  // Claimed before the database query, so that only one of two concurrent requests gets that far.
  runningHere.add(keyName(keys))
  let claimed = false
  try {
    const earlier = await findOrClaim(hub, keys, fingerprintOf(keys, request), false)
    claimed = earlier === null
    return earlier
  } finally {
    if (!claimed) runningHere.delete(keyName(keys))
  }
}

/** Marks the run of a claimed key as ended. */
export function endRun(hub: Hub, keys: Keys): void {
  keysRunningIn(hub).delete(keyName(keys))
}

/**
 * Releases a key whose run changed nothing and may be retried. A failure is only logged: the caller gets the original response,
 * and the leftover row is ignored once the run has ended.
 */
export async function releaseKey(hub: Hub, keys: Keys): Promise<void> {
  try {
    await record(hub, async tx => {
      await deleteHeld(tx, heldRow(hub, keys))
      return { result: undefined }
    })
  } catch (error) {
    hub.log.warn({ err: error }, 'could not release an Idempotency-Key')
  }
}

/**
 * Stores a response that was decided outside a change: an error from the handler, or a success that wrote nothing.
 * @throws Problem 409 `idempotency_in_progress` if another hub took this one for dead and is now running the request
 */
export async function storeResponse(hub: Hub, keys: Keys, response: StoredResponse): Promise<void> {
  await record(hub, async tx => {
    if (!(await storeResponseOf(tx, heldRow(hub, keys), response))) throw idempotencyInProgress()
    return { result: undefined }
  })
}

/** Deletes responses that are past their retention. */
export async function pruneKeys(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await tx.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, hub.clock.now() - retentionMs))
    return { result: undefined }
  })
}

/** Finds or claims the row of the key; with `busy`, only finds it. */
async function findOrClaim(hub: Hub, keys: Keys, fingerprint: string, busy: boolean): Promise<StoredResponse | null> {
  return await record(hub, async tx => {
    const now = hub.clock.now()
    if (!busy) {
      const claim = { ...keyRow(keys), fingerprint, runningIn: hub.id, createdAt: now }
      if (await insertKey(tx, claim, now - retentionMs)) return { result: null }
    }
    const row = await findKey(tx, keyRow(keys))
    // The key was released a moment ago, or its row is about to be written.
    if (!row) throw idempotencyInProgress()
    const runs = row.runningIn !== null && (busy || (row.runningIn !== hub.id && (await isAlive(tx, hub, row.runningIn))))
    if ((runs || row.runningIn === null) && row.fingerprint !== fingerprint) {
      throw new Problem('idempotency_key_reused', 'This Idempotency-Key was already used for a different request. Use a new key.')
    }
    const { status, body, location, etag } = row
    if (row.runningIn === null) return { result: { status: status!, body: body!, location, etag } }
    if (runs) throw idempotencyInProgress()
    // The hub that claimed the key died or could not release it before committing a change, so the request may run again.
    const [claimed] = await tx
      .update(idempotencyKeys)
      .set({ runningIn: hub.id, fingerprint })
      .where(
        and(
          eq(idempotencyKeys.workspaceId, keys.workspaceId),
          eq(idempotencyKeys.method, keys.method),
          eq(idempotencyKeys.path, keys.path),
          eq(idempotencyKeys.key, keys.key),
          eq(idempotencyKeys.runningIn, row.runningIn),
        ),
      )
      .returning({ key: idempotencyKeys.key })
    if (!claimed) throw idempotencyInProgress()
    return { result: null }
  })
}

async function isAlive(tx: Tx, hub: Hub, id: string): Promise<boolean> {
  const [other] = await tx.select({ seenAt: hubs.seenAt }).from(hubs).where(eq(hubs.id, id))
  return other !== undefined && other.seenAt > liveSince(hub)
}

function keysRunningIn(hub: Hub): Set<string> {
  let keys = running.get(hub)
  if (!keys) running.set(hub, (keys = new Set()))
  return keys
}

const fingerprintOf = (keys: Keys, request: { search: string; body: Uint8Array }): string =>
  sha256Hex(Buffer.concat([Buffer.from(`${keys.method}\n${keys.path}\n${request.search}\n`), request.body]))

const keyName = (keys: Keys): string => JSON.stringify([keys.workspaceId, keys.method, keys.path, keys.key])

const keyRow = ({ workspaceId, method, path, key }: Keys): KeyRow => ({ workspaceId, method, path, key })

/** The row, while it is claimed by this hub. */
const heldRow = (hub: Hub, keys: Keys): HeldRow => ({ ...keyRow(keys), runningIn: hub.id })
