import { and, asc, eq, gt } from 'drizzle-orm'
import { rowsInBatches } from '../../core/db/rows-in-batches'
import type { Reader } from '../../core/db/transaction'
import { isStarted, statusAt, type HeartbeatStatus } from './status/state'
import { heartbeats } from './tables'

/** A heartbeat with its current status. */
export interface HeartbeatSummary {
  id: string
  name: string
  tags: string[]
  status: HeartbeatStatus
  started: boolean
}

/** Returns all heartbeats of a workspace, oldest first. @param now ms UTC */
export async function allHeartbeats(read: Reader, workspaceId: string, now: number): Promise<HeartbeatSummary[]> {
  const rows = await rowsInBatches((after, max) =>
    read
      .select()
      .from(heartbeats)
      .where(and(eq(heartbeats.workspaceId, workspaceId), gt(heartbeats.id, after)))
      .orderBy(asc(heartbeats.id))
      .limit(max),
  )
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    tags: row.tags,
    status: statusAt(row, now),
    started: isStarted(row),
  }))
}
