import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import type { IncidentRow, Subject } from './outages/outage'
import type { updateKinds } from './shapes'
import { incidentSubjects, incidentUpdates, type IncidentActor } from './tables'

export type UpdateRow = typeof incidentUpdates.$inferSelect

/** Adds an entry to the timeline of an incident. `actor` is null for automatic changes. */
export async function addUpdate(
  tx: Tx,
  incident: Pick<IncidentRow, 'id'>,
  update: {
    kind: (typeof updateKinds)[number]
    at: number
    text: string
    actor?: IncidentActor | null
    details?: Record<string, unknown> | null
  },
): Promise<UpdateRow> {
  const [row] = await tx
    .insert(incidentUpdates)
    .values({ id: newId('iup'), incidentId: incident.id, actor: null, details: null, editedAt: null, ...update })
    .returning()
  return row!
}

/** Adds a subject to an incident. @returns false if it was already there */
export async function addSubject(
  tx: Tx,
  incident: Pick<IncidentRow, 'id'>,
  subject: Subject,
  role: 'cause' | 'affected',
  at: number,
): Promise<boolean> {
  const { id, type, name, tags, target = null } = subject
  const added = await tx
    .insert(incidentSubjects)
    .values({ incidentId: incident.id, subjectId: id, type, role, name, tags: [...tags], target, at })
    .onConflictDoNothing()
    .returning({ id: incidentSubjects.subjectId })
  return added.length > 0
}
