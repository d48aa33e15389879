import { and, eq, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import type { Subject } from '../incidents/subject'
import { monitors } from './tables'
import { monitorFact } from './view'

/** The monitors with these ids in a workspace. */
export async function monitorSubjects(read: Reader, workspaceId: string, ids: readonly string[]): Promise<Subject[]> {
  if (ids.length === 0) return []
  const rows = await read
    .select()
    .from(monitors)
    .where(and(inArray(monitors.id, [...ids]), eq(monitors.workspaceId, workspaceId)))
  return rows.map(row => ({
    type: 'monitor',
    id: row.id,
    name: row.name,
    tags: row.tags,
    target: row.target || null,
    isFailing: (row.state.outage?.notified ?? null) !== null,
    fact: monitorFact(row),
  }))
}
