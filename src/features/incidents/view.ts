import { asc, eq, inArray, lte, sql } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Reader } from '../../core/db/transaction'
import { editableView, memberView } from '../../core/members'
import { durationOf } from './outages/event-data'
import type { IncidentRow } from './outages/outage'
import { incidentMembers, type IncidentUpdateView, type IncidentView } from './shapes'
import { incidentSubjects, incidentUpdates } from './tables'
import type { UpdateRow } from './timeline'

const maxTimelineEntries = 50

type SubjectRow = typeof incidentSubjects.$inferSelect

/** API representation of incidents, with their subjects and latest timeline entries. */
export async function incidentViews(read: Reader, rows: readonly IncidentRow[], now: number): Promise<IncidentView[]> {
  const ids = rows.map(row => row.id)
  if (ids.length === 0) return []
  const subjects = Map.groupBy(
    await read
      .select()
      .from(incidentSubjects)
      .where(inArray(incidentSubjects.incidentId, ids))
      .orderBy(asc(incidentSubjects.at), asc(incidentSubjects.subjectId)),
    one => one.incidentId,
  )
  const updates = Map.groupBy(await lastUpdates(read, ids), one => one.incidentId)
  return rows.map(row => incidentView(row, subjects.get(row.id) ?? [], updates.get(row.id) ?? [], now))
}

/** API representation of one incident. */
export const incidentViewOf = async (read: Reader, row: IncidentRow, now: number): Promise<IncidentView> =>
  (await incidentViews(read, [row], now))[0]!

/** API representation of a timeline entry. */
export const updateView = (row: UpdateRow): IncidentUpdateView => ({
  id: row.id,
  at: instant(row.at),
  kind: row.kind,
  actor: row.actor,
  text: row.text,
  details: row.details,
  edited_at: instant(row.editedAt),
})

/** Fields of an incident that the audit log records. */
export const auditView = (row: IncidentRow) => ({
  ...memberView(incidentMembers, row),
  status: row.status,
  acknowledged_by: row.acknowledgedBy,
  acknowledgement_expires_at: instant(row.acknowledgedUntil),
})

async function lastUpdates(read: Reader, ids: string[]): Promise<UpdateRow[]> {
  const ranked = read
    .select({
      id: incidentUpdates.id,
      position:
        sql<number>`row_number() over (partition by ${incidentUpdates.incidentId} order by ${incidentUpdates.id} desc)`.as(
          'position',
        ),
    })
    .from(incidentUpdates)
    .where(inArray(incidentUpdates.incidentId, ids))
    .as('ranked')
  const found = await read
    .select({ update: incidentUpdates })
    .from(ranked)
    .innerJoin(incidentUpdates, eq(incidentUpdates.id, ranked.id))
    .where(lte(ranked.position, maxTimelineEntries))
    .orderBy(asc(incidentUpdates.id))
  return found.map(one => one.update)
}

const incidentView = (row: IncidentRow, subjects: SubjectRow[], updates: UpdateRow[], now: number): IncidentView => ({
  id: row.id,
  kind: row.kind,
  ...memberView(incidentMembers, row),
  status: row.status,
  cause: row.cause,
  monitors: subjectsOfType(subjects, 'monitor'),
  heartbeats: subjectsOfType(subjects, 'heartbeat'),
  tls_endpoints: subjectsOfType(subjects, 'tls_endpoint'),
  certificates: subjectsOfType(subjects, 'certificate'),
  locations: row.locations,
  started_at: instant(row.startedAt),
  confirmed_at: instant(row.confirmedAt),
  acknowledged_at: instant(row.acknowledgedAt),
  acknowledged_by: row.acknowledgedBy,
  acknowledgement_expires_at: instant(row.acknowledgedUntil),
  resolved_at: instant(row.resolvedAt),
  resolution: row.resolution,
  duration_seconds: Math.floor(durationOf(row, now) / 1000),
  evidence: row.evidence,
  postmortem:
    row.postmortem === null || row.postmortemAt === null ? null : { body: row.postmortem, updated_at: instant(row.postmortemAt) },
  timeline: updates.map(updateView),
  ...editableView(row),
})

const subjectsOfType = (subjects: SubjectRow[], type: SubjectRow['type']) =>
  subjects.filter(one => one.type === type).map(({ subjectId, name, role }) => ({ id: subjectId, name, role }))
