import { sql } from 'drizzle-orm'
import { forIds } from '../../core/db/id-list'
import { insertRows, insertRowsReturning, skipExisting } from '../../core/db/insert-rows'
import { prepared } from '../../core/db/prepared'
import { batched } from '../../core/db/together'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import type { IncidentRow, Subject } from './outages/outage'
import type { updateKinds } from './shapes'
import { incidentSubjects, incidentUpdates, type IncidentActor } from './tables'

export type UpdateRow = typeof incidentUpdates.$inferSelect
export type SubjectRow = typeof incidentSubjects.$inferSelect

/** Adds an entry to the timeline of an incident. `actor` is null for automatic changes. */
export const addUpdate = (
  tx: Tx,
  incident: Pick<IncidentRow, 'id'>,
  update: {
    kind: (typeof updateKinds)[number]
    at: number
    text: string
    actor?: IncidentActor | null
    details?: Record<string, unknown> | null
  },
): Promise<UpdateRow> =>
  insertUpdate(tx, { id: newId('iup'), incidentId: incident.id, actor: null, details: null, editedAt: null, ...update })

const insertUpdate = batched('incident-update', async (tx, rows: readonly UpdateRow[]) => {
  await insertRows(tx, incidentUpdates, rows)
  return rows
})

/** Adds a subject to an incident. @returns false if it was already there */
export const addSubject = (
  tx: Tx,
  incident: Pick<IncidentRow, 'id'>,
  { id, type, name, tags, target = null }: Subject,
  role: 'cause' | 'affected',
  at: number,
): Promise<boolean> =>
  insertSubject(tx, { incidentId: incident.id, subjectId: id, type, role, name, tags: [...tags], target, at })

const insertSubject = batched('incident-subject', async (tx, rows: readonly SubjectRow[]) => {
  const added = await insertRowsReturning(tx, incidentSubjects, rows, skipExisting)
  const keys = new Set(added.map(row => `${row.incidentId} ${row.subjectId}`))
  return rows.map(row => keys.has(`${row.incidentId} ${row.subjectId}`))
})

/** The subjects of an incident. */
export const subjectsOf = batched('incident-subjects', async (tx, incidentIds: readonly string[]) => {
  const rows = await forIds(incidentIds, (size, list, values) =>
    prepared<SubjectRow[], Tx>(tx, `incident-subjects|${size}`, handle =>
      handle
        .select()
        .from(incidentSubjects)
        .where(sql`${incidentSubjects.incidentId} in ${list}`),
    ).execute(values),
  )
  const byIncident = Map.groupBy(rows, row => row.incidentId)
  return incidentIds.map(id => byIncident.get(id) ?? [])
})
