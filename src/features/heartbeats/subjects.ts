import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import type { Subject } from '../incidents/subject'
import { heartbeatFact } from './status/fact'
import { heartbeats } from './tables'

/** Returns the heartbeats with the given IDs that belong to the workspace. */
export async function heartbeatSubjects(read: Reader, workspaceId: string, ids: readonly string[]): Promise<Subject[]> {
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
