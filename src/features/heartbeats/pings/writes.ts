import { sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import { forUpdate } from '../../../core/db/dialect'
import { forIds } from '../../../core/db/id-list'
import type { Tx } from '../../../core/db/transaction'
import { updateRows } from '../../../core/db/update-rows'
import { stateColumns } from '../status/rows'
import { heartbeats } from '../tables'
import type { HeartbeatRow } from '../view'

/** Locks the heartbeats with these UUID hashes, in hash order, so that batches of several hubs can’t deadlock. */
export const lockHeartbeats = (tx: Tx, hashes: readonly string[]): Promise<HeartbeatRow[]> =>
  forIds([...hashes].sort(), (size, list, values) =>
    prepared<HeartbeatRow[], Tx>(tx, `heartbeats-by-uuid|${size}`, handle =>
      forUpdate(
        handle
          .select()
          .from(heartbeats)
          .where(sql`${heartbeats.uuidHash} in ${list}`)
          .orderBy(heartbeats.uuidHash),
      ),
    ).execute(values),
  )

type Rows = ReadonlyMap<string, HeartbeatRow>

/** Stores the states and ping counts after a batch of pings. @param before,after rows by UUID hash */
export async function writeStates(tx: Tx, before: Rows, after: Rows): Promise<void> {
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

function columnsToWrite(before: HeartbeatRow, after: HeartbeatRow): keyof typeof columnSets {
  if (
    before.status !== after.status ||
    before.statusSince !== after.statusSince ||
    before.alertHeldUntil !== after.alertHeldUntil
  )
    return 'ping-status'
  return before.downAt === after.downAt ? 'ping' : 'ping-due'
}
