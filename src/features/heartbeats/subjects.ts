import { and, eq, inArray } from 'drizzle-orm'
import type { EventData } from '../../core/events'
import type { Reader } from '../../core/db/transaction'
import { heartbeatFact } from './fact'
import { heartbeats } from './tables'

/** A heartbeat as an incident is about it, and as events tell of it. */
export interface HeartbeatSubject {
  type: 'heartbeat'
  id: string
  name: string
  tags: string[]
  target: null
  /** Whether people were told that it is not well, and will be told when it is. */
  isFailing: boolean
  fact: NonNullable<EventData<'monitor.alert'>['heartbeat']>
}

/** The heartbeats of a workspace among these ids. */
export async function heartbeatSubjects(read: Reader, workspaceId: string, ids: readonly string[]): Promise<HeartbeatSubject[]> {
  if (ids.length === 0) return []
  const rows = await read
    .select()
    .from(heartbeats)
    .where(and(inArray(heartbeats.id, [...ids]), eq(heartbeats.workspaceId, workspaceId)))
  return rows.map(row => ({
    type: 'heartbeat',
    id: row.id,
    name: row.name,
    tags: row.tags,
    target: null,
    isFailing: row.status === 'down',
    fact: heartbeatFact(row),
  }))
}
