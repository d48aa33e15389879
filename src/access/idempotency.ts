import { and, eq, lt } from 'drizzle-orm'
import { record, stillRunning } from '../core/change'
import { sha256Hex } from '../core/crypto'
import type { Idempotency, StoredAnswer } from '../core/ctx'
import { hubs, idempotencyKeys } from '../core/db/tables'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { hubTimeoutMs } from '../core/jobs/queue'
import { Problem } from '../core/problem'

/** How long an answer can be replayed. */
export const keptMs = 24 * 3600 * 1000

type Keys = Pick<Idempotency, 'method' | 'path' | 'key'> & { workspaceId: string }

// The keys that really run in this process. The row of one that is not here is left over: its release failed.
const running = new WeakMap<Hub, Set<string>>()

/**
 * Takes the key for a run of the request, or finds the answer of an earlier run. Whoever is given null runs the request, and
 * calls `dropKey` at its end.
 * @throws Problem 409 `idempotency_in_progress`, 422 `idempotency_key_reused`
 */
export async function takeKey(hub: Hub, keys: Keys, request: { search: string; body: Uint8Array }): Promise<StoredAnswer | null> {
  const here = runningIn(hub)
  const busy = here.has(nameOf(keys))
  if (busy) return await findOrTake(hub, keys, fingerprintOf(keys, request), true)
  // Claimed before the database is asked, so that of two that arrive together one alone gets that far.
  here.add(nameOf(keys))
  let taken = false
  try {
    const earlier = await findOrTake(hub, keys, fingerprintOf(keys, request), false)
    taken = earlier === null
    return earlier
  } finally {
    if (!taken) here.delete(nameOf(keys))
  }
}

/** Says that the request of a taken key runs no more. */
export function dropKey(hub: Hub, keys: Keys): void {
  runningIn(hub).delete(nameOf(keys))
}

/**
 * Lets go of a key whose run changed nothing and may be tried again. Failing at it is logged and no more: the caller gets the
 * answer that led here, and the row that is left counts for nothing once the run is dropped.
 */
export async function releaseKey(hub: Hub, keys: Keys): Promise<void> {
  try {
    await record(hub, async tx => {
      await tx.delete(idempotencyKeys).where(mineOf(hub, keys))
      return { result: undefined }
    })
  } catch (error) {
    hub.log.warn({ err: error }, 'an Idempotency-Key was not released')
  }
}

/**
 * Keeps an answer that was decided outside a change: an error of the handler, or a success that wrote nothing.
 * @throws Problem 409 `idempotency_in_progress` when another hub took this one for dead and runs the request now
 */
export async function keepAnswer(hub: Hub, keys: Keys, answer: StoredAnswer): Promise<void> {
  await record(hub, async tx => {
    const kept = await tx
      .update(idempotencyKeys)
      .set({ runningIn: null, ...answer })
      .where(mineOf(hub, keys))
      .returning({ key: idempotencyKeys.key })
    if (kept.length === 0) throw stillRunning()
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

/** Finds or takes the row of the key; with `busy`, finds only. */
async function findOrTake(hub: Hub, keys: Keys, fingerprint: string, busy: boolean): Promise<StoredAnswer | null> {
  return await record(hub, async tx => {
    const now = hub.clock.now()
    const mine = rowOf(keys)
    if (!busy) {
      await tx.delete(idempotencyKeys).where(and(mine, lt(idempotencyKeys.createdAt, now - keptMs)))
      const [made] = await tx
        .insert(idempotencyKeys)
        .values({ ...keys, fingerprint, runningIn: hub.id, createdAt: now })
        .onConflictDoNothing()
        .returning({ key: idempotencyKeys.key })
      if (made) return { result: null }
    }
    const [row] = await tx.select().from(idempotencyKeys).where(mine)
    // It was let go of a moment ago, or is about to be written.
    if (!row) throw stillRunning()
    const runs = row.runningIn !== null && (busy || (row.runningIn !== hub.id && (await isAlive(tx, row.runningIn, now))))
    if ((runs || row.runningIn === null) && row.fingerprint !== fingerprint) {
      throw new Problem('idempotency_key_reused', 'This Idempotency-Key was used for another request; take a new one.')
    }
    const { status, body, location, etag } = row
    if (row.runningIn === null) return { result: { status: status!, body: body!, location, etag } }
    if (runs) throw stillRunning()
    // Its process died, or could not release it, before a change was committed: nothing happened, and the first to say so runs.
    const [taken] = await tx
      .update(idempotencyKeys)
      .set({ runningIn: hub.id, fingerprint })
      .where(and(mine, eq(idempotencyKeys.runningIn, row.runningIn)))
      .returning({ key: idempotencyKeys.key })
    if (!taken) throw stillRunning()
    return { result: null }
  })
}

async function isAlive(tx: Tx, id: string, now: number): Promise<boolean> {
  const [other] = await tx.select({ seenAt: hubs.seenAt }).from(hubs).where(eq(hubs.id, id))
  return other !== undefined && other.seenAt > now - hubTimeoutMs
}

function runningIn(hub: Hub): Set<string> {
  let keys = running.get(hub)
  if (!keys) running.set(hub, (keys = new Set()))
  return keys
}

const fingerprintOf = (keys: Keys, request: { search: string; body: Uint8Array }): string =>
  sha256Hex(Buffer.concat([Buffer.from(`${keys.method}\n${keys.path}\n${request.search}\n`), request.body]))

const nameOf = (keys: Keys): string => JSON.stringify([keys.workspaceId, keys.method, keys.path, keys.key])

const rowOf = (keys: Keys) =>
  and(
    eq(idempotencyKeys.workspaceId, keys.workspaceId),
    eq(idempotencyKeys.method, keys.method),
    eq(idempotencyKeys.path, keys.path),
    eq(idempotencyKeys.key, keys.key),
  )

/** The row as long as this hub holds it. */
const mineOf = (hub: Hub, keys: Keys) => and(rowOf(keys), eq(idempotencyKeys.runningIn, hub.id))
