import { and, eq, lte, sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { AuditContext } from '../../../core/db/tables'
import { insertRows } from '../../../core/db/insert-rows'
import { prepared } from '../../../core/db/prepared'
import { together } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { incrementCounter } from '../../../core/metric-counters'
import { topicsOf } from '../../../core/topics'
import { joined, type Drafts } from '../../incidents/outages/outage'
import { scheduleDueCheck } from '../status/due-timer'
import { reportFlip } from '../status/alerts'
import { maintenanceHoldUntil } from '../status/maintenance-hold'
import { lockHeartbeats, lockPinged, writeStates, type PingedRow, type PingedRows } from './writes'
import { columnsAfter, flipRow } from '../status/rows'
import { applyPing, type Flip, type HeartbeatState, type PingKind } from '../status/state'
import { flips, heartbeats, pings } from '../tables'
import type { HeartbeatRow } from '../view'
import { pingTopic } from '../watching'

/** A received ping, through any of the ping APIs. */
export interface IncomingPing {
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

/** A recorded ping, or null if no heartbeat has this UUID. */
export type RecordedPing = { heartbeatId: string; n: number; kind: PingKind } | null

// All pings received during one transaction go into the next, so that each commit covers many pings.
const maxBatchSize = 500
const maxQueued = 20_000
// Like Healthchecks, keeps 100 pings and prunes after every 100, so up to 199 are stored.
const keptPings = 100

interface QueuedPing {
  ping: IncomingPing
  resolve: (recorded: RecordedPing) => void
  reject: (error: unknown) => void
}

/** The pings of one process that are waiting to be stored. */
class PingQueue {
  private waiting: QueuedPing[] = []
  private draining = false
  private last: Promise<unknown> = Promise.resolve()
  constructor(private readonly hub: Hub) {}

  /** Resolves when the ping is stored. @throws Problem 503 `overloaded` if the queue is full */
  add(ping: IncomingPing): Promise<RecordedPing> {
    if (this.waiting.length >= maxQueued)
      throw new Problem('overloaded', 'Too many pings are waiting to be stored. Try again shortly.', {
        headers: { 'Retry-After': '1' },
      })
    const recorded = new Promise<RecordedPing>((resolve, reject) => {
      this.waiting.push({ ping, resolve, reject })
    })
    this.last = recorded.catch(() => null)
    if (!this.draining) {
      this.draining = true
      void this.drain()
    }
    return recorded
  }

  /** Resolves when all pings queued so far are stored. Does not wait for pings added later. */
  async settled(): Promise<void> {
    await this.last
  }

  private async drain(): Promise<void> {
    while (this.waiting.length > 0) {
      let batch: QueuedPing[] = []
      try {
        const { recorded, earliestDue } = await record(this.hub, tx => {
          // Takes all pings that arrived until the transaction started. If it is repeated, the pings stay the same.
          if (batch.length === 0) batch = this.waiting.splice(0, maxBatchSize)
          return recordBatch(
            tx,
            this.hub,
            batch.map(one => one.ping),
          )
        })
        for (const one of recorded) {
          if (!one) continue
          incrementCounter(this.hub, 'heartbeat_pings', one.kind)
          topicsOf(this.hub).wake(pingTopic(one.heartbeatId))
        }
        scheduleDueCheck(this.hub, earliestDue)
        batch.forEach((one, index) => one.resolve(recorded[index]!))
      } catch (error) {
        // Without a batch, the transaction could not be started.
        for (const one of batch.length > 0 ? batch : this.waiting.splice(0, maxBatchSize)) one.reject(error)
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

async function recordBatch(tx: Tx, hub: Hub, incoming: readonly IncomingPing[]) {
  const hashes = [...new Set(incoming.map(one => one.uuidHash))]
  let applied: Applied<PingedRow> = applyAll(await lockPinged(tx, hashes), incoming, () => null)
  let flipped: Flipped<HeartbeatRow>[] = []
  if (applied.flipped.length > 0) {
    // Only reports of status changes need the other columns.
    const whole = applyAll(await lockHeartbeats(tx, hashes), incoming, (row, at) => maintenanceHoldUntil(hub, row, at))
    applied = whole
    flipped = whole.flipped
  }
  const { before, after, pingRows, recorded } = applied
  await writeStates(tx, before, after)
  await insertRows(tx, pings, pingRows)
  await insertRows(
    tx,
    flips,
    flipped.map(({ row, flip }) => flipRow(row.id, flip)),
  )
  const drafts = await reportFlips(tx, hub, flipped)
  await prunePings(tx, before, after)
  const dues = [...after.values()].flatMap(row => row.downAt ?? row.alertHeldUntil ?? [])
  return { result: { recorded, earliestDue: dues.length > 0 ? Math.min(...dues) : null }, ...joined(...drafts) }
}

/** A status change by a ping. `row` is the heartbeat before the ping. */
interface Flipped<Row> {
  row: Row
  state: HeartbeatState
  flip: Flip
  ping: IncomingPing
  alertHeldUntil: number | null
}

/** What a batch of pings changes. `before` and `after`: by UUID hash. */
interface Applied<Row> {
  before: ReadonlyMap<string, Row>
  after: ReadonlyMap<string, Row>
  pingRows: (typeof pings.$inferInsert)[]
  flipped: Flipped<Row>[]
  recorded: RecordedPing[]
}

/** @param holdUntil until when to hold the alert of a heartbeat that goes down at a time */
function applyAll<Row extends PingedRow>(
  rows: readonly Row[],
  incoming: readonly IncomingPing[],
  holdUntil: (row: Row, at: number) => number | null,
): Applied<Row> {
  const before = new Map(rows.map(row => [row.uuidHash, row]))
  const after = new Map(before)
  const applied: Applied<Row> = { before, after, pingRows: [], flipped: [], recorded: [] }
  for (const ping of incoming) {
    const row = after.get(ping.uuidHash)
    if (!row) {
      applied.recorded.push(null)
      continue
    }
    const kind: PingKind = row.methods === 'POST' && ping.method !== 'POST' ? 'ign' : ping.kind
    const outcome = applyPing(row, row.schedule, { kind, at: ping.at, rid: ping.rid, exitStatus: ping.exitStatus }, row)
    const { state, flip, durationMs } = outcome
    const n = row.pingCount + 1
    const alertHeldUntil = flip?.to === 'down' ? holdUntil(row, flip.at) : null
    after.set(ping.uuidHash, { ...row, ...columnsAfter(row, outcome, alertHeldUntil), pingCount: n })
    applied.pingRows.push({
      heartbeatId: row.id,
      n,
      kind,
      at: ping.at,
      exitStatus: ping.exitStatus,
      durationMs,
      rid: ping.rid,
      source: ping.source,
      userAgent: ping.userAgent,
      method: ping.method,
      body: ping.body,
    })
    applied.recorded.push({ heartbeatId: row.id, n, kind })
    if (flip?.from) applied.flipped.push({ row, state, flip, ping, alertHeldUntil })
  }
  return applied
}

/** Reports the status changes of different heartbeats together, and those of the same one after the other. */
const reportFlips = (tx: Tx, hub: Hub, flipped: readonly Flipped<HeartbeatRow>[]): Promise<Drafts[]> =>
  together(
    tx,
    [...Map.groupBy(flipped, one => one.row.id).values()].map(own => async () => {
      const all: Drafts[] = []
      for (const { row, state, flip, ping, alertHeldUntil } of own)
        all.push(await reportFlip(tx, hub, row, state, flip, ingestActor(row, ping), { failure: ping, alertHeldUntil }))
      return joined(...all)
    }),
  )

/** Deletes all but the last 100 pings of a heartbeat whenever its ping count passes a multiple of 100. */
async function prunePings(tx: Tx, before: PingedRows, after: PingedRows): Promise<void> {
  for (const [hash, row] of after) {
    if (Math.floor(row.pingCount / keptPings) === Math.floor(before.get(hash)!.pingCount / keptPings)) continue
    await tx.delete(pings).where(and(eq(pings.heartbeatId, row.id), lte(pings.n, row.pingCount - keptPings)))
  }
}

function ingestActor(row: HeartbeatRow, ping: IncomingPing) {
  const context: AuditContext = {
    ip: ping.source,
    user_agent: ping.userAgent || null,
    request_id: null,
    idempotency_key: null,
    channel: 'ingest',
  }
  return { actor: { type: 'ingest' as const, id: row.id, name: row.name, hint: null }, context }
}

/** Whether a heartbeat with this UUID exists. Checked before a ping is queued, so that guessed UUIDs never reach the writer. */
export async function heartbeatExists(hub: Hub, uuidHash: string): Promise<boolean> {
  const known = knownHashes(hub)
  if (known.has(uuidHash)) return true
  const [row] = await prepared(hub.read, 'heartbeat-by-uuid', read =>
    read
      .select({ id: heartbeats.id })
      .from(heartbeats)
      .where(eq(heartbeats.uuidHash, sql.placeholder('hash'))),
  ).execute({ hash: uuidHash })
  if (row === undefined) return false
  if (known.size >= maxKnown) known.delete(known.values().next().value!)
  known.add(uuidHash)
  return true
}

const maxKnown = 20_000
const knownByHub = new WeakMap<Hub, Set<string>>()

/** Heartbeats that existed at their last ping. Only saves a query: whether they still exist is checked when the ping is stored. */
function knownHashes(hub: Hub): Set<string> {
  let known = knownByHub.get(hub)
  if (!known) knownByHub.set(hub, (known = new Set()))
  return known
}

/** Records a ping and resolves when it is stored. Null: no heartbeat has this UUID. */
export async function recordPing(hub: Hub, ping: IncomingPing): Promise<RecordedPing> {
  const recorded = await pingQueue(hub).add(ping)
  if (recorded === null) knownHashes(hub).delete(ping.uuidHash)
  return recorded
}
