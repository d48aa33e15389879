import { and, eq, lte, sql } from 'drizzle-orm'
import { record } from '../../core/change'
import type { AuditContext } from '../../core/db/tables'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { Problem } from '../../core/problem'
import { tally } from '../../core/tally'
import { topicsOf } from '../../core/topics'
import { joined, type Drafts } from '../incidents/outage'
import { dueChanged } from './alarm'
import { tell } from './alerts'
import { heldUntil } from './held'
import { readHeartbeats, writePings, writeStates } from './ping-writes'
import { columnsAfter, flipRow } from './rows'
import { applyPing, type PingKind } from './state'
import { flips, heartbeats, pings } from './tables'
import type { HeartbeatRow } from './view'
import { pingTopic } from './watching'

/** A ping as it came, by whichever of the addresses. */
export interface Arrival {
  uuidHash: string
  kind: Exclude<PingKind, 'ign'>
  exitStatus: number | null
  rid: string | null
  at: number
  method: string
  source: string
  userAgent: string
  body: Uint8Array | null
}

/** How an arrival was taken, or null when no heartbeat has this UUID. */
export type Taken = { heartbeatId: string; n: number; kind: PingKind } | null

// One transaction for all that arrived while the one before was written: the disk is waited for once, not once a ping.
const largestBatch = 500
const mostWaiting = 20_000
// Healthchecks keeps 100 and prunes each 100; between prunings there are up to twice as many.
const keptPings = 100

interface Waiting {
  arrival: Arrival
  resolve: (taken: Taken) => void
  reject: (error: unknown) => void
}

/** The pings of one process on their way to the disk. */
class PingQueue {
  private waiting: Waiting[] = []
  private draining = false
  private last: Promise<unknown> = Promise.resolve()
  constructor(private readonly hub: Hub) {}

  /** @throws Problem 503 `overloaded` when more wait than can be written soon */
  add(arrival: Arrival): Promise<Taken> {
    if (this.waiting.length >= mostWaiting)
      throw new Problem('overloaded', 'Too many pings wait to be written. Try again shortly.', {
        headers: { 'Retry-After': '1' },
      })
    const taken = new Promise<Taken>((resolve, reject) => {
      this.waiting.push({ arrival, resolve, reject })
    })
    this.last = taken.catch(() => null)
    if (!this.draining) {
      this.draining = true
      setImmediate(() => void this.drain())
    }
    return taken
  }

  /** Resolves when what has come so far is written; what comes meanwhile is not waited for. */
  async settled(): Promise<void> {
    await this.last
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      const batch = this.waiting.splice(0, largestBatch)
      try {
        const { taken, earliestDue } = await record(this.hub, tx =>
          takeBatch(
            tx,
            this.hub,
            batch.map(one => one.arrival),
          ),
        )
        for (const one of taken) {
          if (!one) continue
          tally(this.hub, 'heartbeat_pings', one.kind)
          topicsOf(this.hub).wake(pingTopic(one.heartbeatId))
        }
        dueChanged(this.hub, earliestDue)
        batch.forEach((one, place) => one.resolve(taken[place]!))
      } catch (error) {
        for (const one of batch) one.reject(error)
      }
    }
    this.draining = false
  }
}

const queues = new WeakMap<Hub, PingQueue>()
/** The ping queue of this process. */
export function pingQueue(hub: Hub): PingQueue {
  let queue = queues.get(hub)
  if (!queue) queues.set(hub, (queue = new PingQueue(hub)))
  return queue
}

async function takeBatch(tx: Tx, hub: Hub, arrivals: Arrival[]) {
  const hashes = [...new Set(arrivals.map(one => one.uuidHash))]
  const rows = await readHeartbeats(tx, hashes)
  const before = new Map(rows.map(row => [row.uuidHash, row]))
  const now = new Map(before)
  const kept: (typeof pings.$inferInsert)[] = []
  const flipped: (typeof flips.$inferInsert)[] = []
  const told: Drafts[] = []
  const taken: Taken[] = []

  for (const arrival of arrivals) {
    const row = now.get(arrival.uuidHash)
    if (!row) {
      taken.push(null)
      continue
    }
    const kind: PingKind = row.methods === 'POST' && arrival.method !== 'POST' ? 'ign' : arrival.kind
    const outcome = applyPing(row, row.schedule, { kind, at: arrival.at, rid: arrival.rid, exitStatus: arrival.exitStatus }, row)
    const { state, flip, durationMs } = outcome
    const n = row.pingCount + 1
    const held = flip?.to === 'down' ? heldUntil(hub, row, flip.at) : null
    now.set(arrival.uuidHash, { ...row, ...columnsAfter(row, outcome, held), pingCount: n })
    kept.push({
      heartbeatId: row.id,
      n,
      kind,
      at: arrival.at,
      exitStatus: arrival.exitStatus,
      durationMs,
      rid: arrival.rid,
      source: arrival.source,
      userAgent: arrival.userAgent,
      method: arrival.method,
      body: arrival.body,
    })
    taken.push({ heartbeatId: row.id, n, kind })
    if (flip?.from) {
      flipped.push(flipRow(row.id, flip))
      told.push(await tell(tx, hub, row, state, flip, ingestBy(row, arrival), { failure: arrival, heldUntil: held }))
    }
  }
  await writeStates(
    tx,
    [...now.values()].filter(row => row !== before.get(row.uuidHash)),
  )
  await writePings(tx, kept)
  if (flipped.length > 0) await tx.insert(flips).values(flipped)
  await pruneOld(tx, before, now)
  const dues = [...now.values()].flatMap(row => row.downAt ?? row.heldUntil ?? [])
  return { result: { taken, earliestDue: dues.length > 0 ? Math.min(...dues) : null }, ...joined(...told) }
}

/** Deletes the pings of a heartbeat that are past its hundred, each time it passes one. */
async function pruneOld(tx: Tx, before: Map<string, HeartbeatRow>, now: Map<string, HeartbeatRow>): Promise<void> {
  for (const [hash, row] of now) {
    if (Math.floor(row.pingCount / keptPings) === Math.floor(before.get(hash)!.pingCount / keptPings)) continue
    await tx.delete(pings).where(and(eq(pings.heartbeatId, row.id), lte(pings.n, row.pingCount - keptPings)))
  }
}

function ingestBy(row: HeartbeatRow, arrival: Arrival) {
  const context: AuditContext = {
    ip: arrival.source,
    user_agent: arrival.userAgent || null,
    request_id: null,
    idempotency_key: null,
    channel: 'ingest',
  }
  return { actor: { type: 'ingest' as const, id: row.id, name: row.name, hint: null }, context }
}

/** Whether a heartbeat with this UUID exists: asked before an arrival may queue, so that guessing costs the writer nothing. */
export async function isKnown(hub: Hub, uuidHash: string): Promise<boolean> {
  const [row] = await prepared(hub.read, 'heartbeat-by-uuid', read =>
    read
      .select({ id: heartbeats.id })
      .from(heartbeats)
      .where(eq(heartbeats.uuidHash, sql.placeholder('hash'))),
  ).execute({ hash: uuidHash })
  return row !== undefined
}

/** Takes a ping; resolves when it is on the disk. Null when no heartbeat has this UUID. */
export const takePing = (hub: Hub, arrival: Arrival): Promise<Taken> => pingQueue(hub).add(arrival)
