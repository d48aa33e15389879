import { and, eq, inArray } from 'drizzle-orm'
import type { EventData } from '../../core/events'
import type { Reader } from '../../core/db/transaction'
import { monitors } from './tables'
import { monitorFact } from './view'

/** A monitor as an incident is about it, and as events tell of it. */
export interface MonitorSubject {
  type: 'monitor'
  id: string
  name: string
  tags: string[]
  target: string | null
  /** Whether people were told that it is not well, and will be told when it is. */
  isFailing: boolean
  fact: NonNullable<EventData<'monitor.alert'>['monitor']>
}

/** The monitors of a workspace among these ids. */
export async function monitorSubjects(read: Reader, workspaceId: string, ids: readonly string[]): Promise<MonitorSubject[]> {
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
    isFailing: (row.state.outage?.told ?? null) !== null,
    fact: monitorFact(row),
  }))
}
