import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { severities } from '../../core/notices'

export const incidentKinds = ['monitor.down', 'monitor.degraded', 'heartbeat.missed', 'manual'] as const
export const incidentStatuses = ['open', 'acknowledged', 'resolved'] as const
export const resolutions = ['recovered', 'paused', 'deleted', 'reset', 'closed'] as const
export const subjectTypes = ['monitor', 'heartbeat'] as const
export const updateKinds = [
  'opened',
  'reopened',
  'worsened',
  'eased',
  'affected',
  'acknowledged',
  'unacknowledged',
  'acknowledgement_expired',
  'resolved',
  'edited',
  'note',
  'postmortem',
  'notified',
  'notification_failed',
] as const

/** Who did something to an incident, as events and the timeline name them. */
export interface Doer {
  type: 'user' | 'token' | 'ingest' | 'system' | 'operator'
  id: string
  name: string | null
}

export const incidents = table(
  'incidents',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    kind: text('kind', { enum: [...incidentKinds] }).notNull(),
    // What failed; null for one that people opened.
    subjectId: text('subject_id'),
    // The same while it is unresolved, then null: of a subject one unresolved incident can exist.
    openSubject: text('open_subject'),
    title: text('title').notNull(),
    status: text('status', { enum: [...incidentStatuses] }).notNull(),
    severity: text('severity', { enum: [...severities] }).notNull(),
    cause: text('cause').notNull(),
    locations: json<string[]>('locations').notNull(),
    evidence: json<Record<string, unknown> | null>('evidence'),
    // Null: those channels of the workspace that are for everything.
    channelIds: json<string[] | null>('channel_ids'),
    link: text('link'),
    // Of the first failure.
    startedAt: time('started_at').notNull(),
    confirmedAt: time('confirmed_at'),
    acknowledgedAt: time('acknowledged_at'),
    acknowledgedBy: json<Doer | null>('acknowledged_by'),
    // When the acknowledgement ends by itself; null: not before the incident does.
    acknowledgedUntil: time('acknowledged_until'),
    resolvedAt: time('resolved_at'),
    resolution: text('resolution', { enum: [...resolutions] }),
    // Somebody closed it while its subject was not well: until that recovers it opens no other.
    awaitsRecovery: flag('awaits_recovery').notNull(),
    // How long it was resolved before it was reopened.
    restedMs: int('rested_ms').notNull(),
    // How often it was reopened by itself.
    reopenings: int('reopenings').notNull(),
    assigneeId: text('assignee_id'),
    notes: text('notes').notNull(),
    postmortem: text('postmortem'),
    postmortemAt: time('postmortem_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('incidents_unresolved').on(t.openSubject),
    index('incidents_subject').on(t.subjectId, t.id),
    index('incidents_workspace').on(t.workspaceId, t.id),
    index('incidents_status').on(t.workspaceId, t.status, t.id),
    index('incidents_started').on(t.workspaceId, t.startedAt, t.id),
    index('incidents_resolved').on(t.workspaceId, t.resolvedAt),
    index('incidents_acknowledged').on(t.acknowledgedUntil),
  ],
)

/** What an incident is about: what failed, and what went down along with it. Kept when the monitor is deleted. */
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
    // What a monitor checks: by its host name the changes before are searched.
    target: text('target'),
    at: time('at').notNull(),
  },
  t => [primaryKey({ columns: [t.incidentId, t.subjectId] }), index('incident_subjects_subject').on(t.subjectId, t.incidentId)],
)

/** The timeline. Entries are only added, but notes of people can be edited. */
export const incidentUpdates = table(
  'incident_updates',
  {
    id: text('id').primaryKey(),
    incidentId: text('incident_id')
      .notNull()
      .references(() => incidents.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    kind: text('kind', { enum: [...updateKinds] }).notNull(),
    // Null: the hub by itself.
    actor: json<Doer | null>('actor'),
    text: text('text').notNull(),
    details: json<Record<string, unknown> | null>('details'),
    editedAt: time('edited_at'),
  },
  t => [index('incident_updates_incident').on(t.incidentId, t.id)],
)
