import { and, asc, eq, gt } from 'drizzle-orm'
import { rowsInTurns } from '../../core/db/rows-in-turns'
import type { Reader } from '../../core/db/transaction'
import { isStarted, statusAt, type HeartbeatStatus } from './state'
import { heartbeats } from './tables'

/** How a heartbeat stands. */
export interface HeartbeatStanding {
  id: string
  name: string
  tags: string[]
  status: HeartbeatStatus
  started: boolean
}

/** Every heartbeat of a workspace, oldest first. @param now ms UTC */
export async function everyHeartbeat(read: Reader, workspaceId: string, now: number): Promise<HeartbeatStanding[]> {
  const rows = await rowsInTurns((after, most) =>
    read
      .select()
      .from(heartbeats)
      .where(and(eq(heartbeats.workspaceId, workspaceId), gt(heartbeats.id, after)))
      .orderBy(asc(heartbeats.id))
      .limit(most),
  )
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    tags: row.tags,
    status: statusAt(row, now),
    started: isStarted(row),
  }))
}
