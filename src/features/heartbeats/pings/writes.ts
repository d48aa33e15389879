import { sql, type Column } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import { forUpdate } from '../../../core/db/dialect'
import { forIds } from '../../../core/db/id-list'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import { stateColumns } from '../status/rows'
import { heartbeats } from '../tables'
import type { HeartbeatRow } from '../view'

const pingedColumns = [
  'id',
  'uuidHash',
  'methods',
  'manualResume',
  'schedule',
  'pingCount',
  ...stateColumns,
] as const satisfies (keyof HeartbeatRow)[]

/** A heartbeat with the columns that matter to pings without a status change. Decoding the others takes longer than reading the row. */
export type PingedRow = Pick<HeartbeatRow, (typeof pingedColumns)[number]>
/** By UUID hash. */
export type PingedRows = ReadonlyMap<string, PingedRow>

/** Like {@link lockHeartbeats}, with only the columns that most pings need. */
export const lockPinged = (tx: Tx, hashes: readonly string[]): Promise<PingedRow[]> =>
  lock(tx, hashes, 'pinged', Object.fromEntries(pingedColumns.map(name => [name, heartbeats[name]])))

/** Locks the heartbeats with these UUID hashes, in hash order, so that batches of several hubs can’t deadlock. */
export const lockHeartbeats = (tx: Tx, hashes: readonly string[]): Promise<HeartbeatRow[]> => lock(tx, hashes, 'heartbeats')

const lock = <Row>(tx: Tx, hashes: readonly string[], name: string, columns?: Record<string, Column>): Promise<Row[]> =>
  forIds([...hashes].sort(), (size, list, values) =>
    prepared<Row[], Tx>(
      tx,
      `${name}-by-uuid|${size}`,
      handle =>
        forUpdate(
          (columns ? handle.select(columns as never) : handle.select())
            .from(heartbeats)
            .where(sql`${heartbeats.uuidHash} in ${list}`)
            .orderBy(heartbeats.uuidHash),
        ) as never,
    ).execute(values),
  )

/** Stores the states and ping counts after a batch of pings. */
export async function writeStates(tx: Tx, before: PingedRows, after: PingedRows): Promise<void> {
  const changed = [...after].filter(([hash, row]) => row !== before.get(hash))
  const groups = Map.groupBy(changed, ([hash, row]) => columnsToWrite(before.get(hash)!, row))
  for (const [name, group] of groups)
    await updateRows(
      tx,
      heartbeats,
      { name, set: columnSets[name] },
      group.map(([, row]) => row),
    )
}

const pingColumns = ['lastPingAt', 'lastDurationMs', 'openRuns', 'expectedAt', 'pingCount'] as const

// SQLite writes the entries of all indexes with one of the columns that are set, even if they get the same value.
const columnSets = {
  ping: pingColumns,
  'ping-due': [...pingColumns, 'downAt'],
  'ping-status': [...stateColumns, 'pingCount'],
} as const satisfies Record<string, readonly (keyof HeartbeatRow)[]>

function columnsToWrite(before: PingedRow, after: PingedRow): keyof typeof columnSets {
  if (
    before.status !== after.status ||
    before.statusSince !== after.statusSince ||
    before.alertHeldUntil !== after.alertHeldUntil
  )
    return 'ping-status'
  return before.downAt === after.downAt ? 'ping' : 'ping-due'
}
