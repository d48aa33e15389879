import { sql } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, table, uniqueIndex } from '../../core/db/dialect'
import type { Quorum } from './quorum'
import type { MonitorState } from './state'

export const monitorTypes = ['http', 'tcp', 'icmp', 'dns', 'tls', 'smtp', 'imap', 'pop3', 'ssh', 'websocket', 'group'] as const
export const monitorStatuses = ['new', 'up', 'degraded', 'down', 'maintenance', 'paused', 'unknown'] as const

export const monitors = table(
  'monitors',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // How the series name it: 8 octets instead of 30. Never given twice.
    number: int('number').notNull(),
    // Which of the shares that hubs divide among themselves it belongs to: a hash of its id, 0 to 255.
    share: int('share').notNull(),
    type: text('type', { enum: [...monitorTypes] }).notNull(),
    name: text('name').notNull(),
    // Its name for programs: what an import finds it by.
    key: text('key'),
    description: text('description').notNull(),
    target: text('target').notNull(),
    options: json<Record<string, unknown>>('options').notNull(),
    secretsSealed: text('secrets_sealed'),
    // JSON pointers below `options`.
    secretNames: json<string[]>('secret_names').notNull(),
    intervalSeconds: int('interval_seconds').notNull(),
    timeoutSeconds: int('timeout_seconds').notNull(),
    retryIntervalSeconds: int('retry_interval_seconds').notNull(),
    confirm: int('confirm').notNull(),
    recover: int('recover').notNull(),
    // How long it must be well before it counts as recovered, over and above `recover`.
    recoverySeconds: int('recovery_seconds').notNull(),
    quorum: json<Quorum>('quorum').notNull(),
    downIf: json<string[]>('down_if').notNull(),
    degradedIf: json<string[]>('degraded_if').notNull(),
    degradedMs: int('degraded_ms'),
    locations: json<string[]>('locations').notNull(),
    tags: json<string[]>('tags').notNull(),
    dependsOn: json<string[]>('depends_on').notNull(),
    dependencyGraceSeconds: int('dependency_grace_seconds').notNull(),
    // Null: those channels of the workspace that are for everything.
    channelIds: json<string[] | null>('channel_ids'),
    severity: text('severity', { enum: ['info', 'warning', 'critical'] }).notNull(),
    paused: flag('paused').notNull(),
    // As shown. What the verdict is below maintenance and pauses is in `state`.
    status: text('status', { enum: [...monitorStatuses] }).notNull(),
    statusSince: time('status_since').notNull(),
    state: json<MonitorState>('state').notNull(),
    // Grows with each write of `status` or `state`: of two hubs that judge the same results, one wins.
    stateVersion: int('state_version').notNull(),
    // Written down every now and then, not at each check.
    lastCheckAt: time('last_check_at'),
    // The end of the first certificate of the chain that a check last saw, written down with it; null where it saw none.
    certificateExpiresAt: time('certificate_expires_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    index('monitors_workspace').on(t.workspaceId, t.id),
    index('monitors_name').on(t.workspaceId, t.name, t.id),
    index('monitors_status').on(t.workspaceId, t.status, t.id),
    index('monitors_share').on(t.share),
    // Columns in the condition of an index have no table before them (SQLite).
    index('monitors_certificate')
      .on(t.workspaceId, t.certificateExpiresAt, t.id)
      .where(sql`certificate_expires_at is not null`),
    index('monitors_updated').on(t.updatedAt),
    uniqueIndex('monitors_number').on(t.number),
    uniqueIndex('monitors_key').on(t.workspaceId, t.key),
  ],
)

/** Every change of what is shown as the status: what uptime is reckoned from, kept as long as the monitor. */
export const monitorTransitions = table(
  'monitor_transitions',
  {
    id: text('id').primaryKey(),
    monitorId: text('monitor_id')
      .notNull()
      .references(() => monitors.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    from: text('from_status', { enum: [...monitorStatuses] }).notNull(),
    to: text('to_status', { enum: [...monitorStatuses] }).notNull(),
    // A sentence: the error of the check, the maintenance window, who paused it.
    reason: text('reason').notNull(),
    incidentId: text('incident_id'),
  },
  t => [index('monitor_transitions_monitor').on(t.monitorId, t.at, t.id)],
)

/** Who runs which share of the monitors. Taken by a conditional update, renewed while its hub lives. */
export const monitorShares = table('monitor_shares', {
  share: int('share').primaryKey(),
  hubId: text('hub_id'),
  // Free for others from then on (ms UTC).
  until: time('until').notNull(),
  // When somebody last ran it: from there to the next claim nobody checked.
  ranUntil: time('ran_until').notNull(),
})

/** Times in which no hub ran a share: unknown in every history, neither up nor down. */
export const monitorGaps = table(
  'monitor_gaps',
  {
    id: text('id').primaryKey(),
    from: time('from_at').notNull(),
    to: time('to_at').notNull(),
    // Null: all of them.
    shares: json<number[] | null>('shares'),
  },
  t => [index('monitor_gaps_to').on(t.to)],
)
