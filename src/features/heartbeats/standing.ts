import { asc, eq } from 'drizzle-orm'
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
  const rows = await read.select().from(heartbeats).where(eq(heartbeats.workspaceId, workspaceId)).orderBy(asc(heartbeats.id))
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    tags: row.tags,
    status: statusAt(row, now),
    started: isStarted(row),
  }))
}
