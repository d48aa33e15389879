import { resourceColumns } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import {
  type actorTypes,
  incidentKinds,
  incidentMembers,
  incidentStatuses,
  resolutions,
  subjectTypes,
  updateKinds,
} from './shapes'

/** Who acted on an incident, for events and the timeline. */
export interface IncidentActor {
  type: (typeof actorTypes)[number]
  id: string
  name: string | null
}

export const incidents = table(
  'incidents',
  {
    ...resourceColumns(),
    kind: text('kind', { enum: [...incidentKinds] }).notNull(),
    // The monitor, heartbeat, TLS endpoint, or certificate that failed; null for manual incidents.
    subjectId: text('subject_id'),
    // Equals `subjectId` until resolved, then null: a subject has at most one unresolved incident.
    openSubject: text('open_subject'),
    ...memberColumns(incidentMembers),
    status: text('status', { enum: [...incidentStatuses] }).notNull(),
    cause: text('cause').notNull(),
    locations: json<string[]>('locations').notNull(),
    evidence: json<Record<string, unknown> | null>('evidence'),
    link: text('link'),
    // Time of the first failure.
    startedAt: time('started_at').notNull(),
    confirmedAt: time('confirmed_at'),
    acknowledgedAt: time('acknowledged_at'),
    acknowledgedBy: json<IncidentActor | null>('acknowledged_by'),
    // When the acknowledgement expires; null: when the incident is resolved.
    acknowledgedUntil: time('acknowledged_until'),
    resolvedAt: time('resolved_at'),
    resolution: text('resolution', { enum: [...resolutions] }),
    // Closed manually while its subject was failing: no new incident until the subject recovers.
    awaitsRecovery: flag('awaits_recovery').notNull(),
    // Total time between being resolved and reopened.
    resolvedMs: int('resolved_ms').notNull(),
    // Number of automatic reopenings.
    reopenCount: int('reopen_count').notNull(),
    postmortem: text('postmortem'),
    postmortemAt: time('postmortem_at'),
  },
  t => [
    uniqueIndex('incidents_unresolved').on(t.openSubject),
    index('incidents_subject').on(t.subjectId, t.id),
    index('incidents_workspace').on(t.workspaceId, t.id),
    index('incidents_status').on(t.workspaceId, t.status, t.id),
    index('incidents_started').on(t.workspaceId, t.startedAt, t.id),
    index('incidents_updated').on(t.workspaceId, t.updatedAt, t.id),
    index('incidents_resolved').on(t.workspaceId, t.resolvedAt),
    index('incidents_acknowledged').on(t.acknowledgedUntil),
  ],
)

/** The subjects of an incident: the cause and what it affected. Kept after they are deleted. */
export const incidentSubjects = table(
  'incident_subjects',
  {
    incidentId: text('incident_id')
      .notNull()
      .references(() => incidents.id, { onDelete: 'cascade' }),
    subjectId: text('subject_id').notNull(),
    type: text('type', { enum: [...subjectTypes] }).notNull(),
    role: text('role', { enum: ['cause', 'affected'] }).notNull(),
    name: text('name').notNull(),
    tags: json<string[]>('tags').notNull(),
    // Target of the monitor or host of the TLS endpoint, used to find related DNS changes.
    target: text('target'),
    at: time('at').notNull(),
  },
  t => [primaryKey({ columns: [t.incidentId, t.subjectId] }), index('incident_subjects_subject').on(t.subjectId, t.incidentId)],
)

/** The timeline. Append-only, except that notes can be edited. */
export const incidentUpdates = table(
  'incident_updates',
  {
    id: text('id').primaryKey(),
    incidentId: text('incident_id')
      .notNull()
      .references(() => incidents.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    kind: text('kind', { enum: [...updateKinds] }).notNull(),
    // Null: Bailiwick itself.
    actor: json<IncidentActor | null>('actor'),
    text: text('text').notNull(),
    details: json<Record<string, unknown> | null>('details'),
    editedAt: time('edited_at'),
  },
  t => [index('incident_updates_incident').on(t.incidentId, t.id)],
)
