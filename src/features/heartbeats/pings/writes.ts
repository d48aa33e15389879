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

/** Stores the states and ping counts after a batch of pings. */
export async function writeStates(tx: Tx, rows: readonly HeartbeatRow[]): Promise<void> {
  await updateRows(tx, heartbeats, { name: 'ping', set: [...stateColumns, 'pingCount'] }, rows)
}
