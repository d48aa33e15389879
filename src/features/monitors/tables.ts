import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, table, uniqueIndex } from '../../core/db/dialect'
import type { Quorum } from './verdict/quorum'
import type { MonitorState } from './verdict/state'

export const monitorTypes = ['http', 'tcp', 'icmp', 'dns', 'tls', 'smtp', 'imap', 'pop3', 'ssh', 'websocket', 'group'] as const
export const monitorStatuses = ['new', 'up', 'degraded', 'down', 'maintenance', 'paused', 'unknown'] as const

export const monitors = table(
  'monitors',
  {
    ...resourceColumns(),
    // Identifies the monitor in series: 8 bytes instead of 30. Never reused.
    number: int('number').notNull(),
    // The share it belongs to, a hash of its id from 0 to 255. Hubs divide the shares among themselves.
    share: int('share').notNull(),
    type: text('type', { enum: [...monitorTypes] }).notNull(),
    name: text('name').notNull(),
    // Identifies the monitor in imports.
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
    // How long checks must pass, in addition to `recover`, before it counts as recovered.
    recoverySeconds: int('recovery_seconds').notNull(),
    quorum: json<Quorum>('quorum').notNull(),
    downIf: json<string[]>('down_if').notNull(),
    degradedIf: json<string[]>('degraded_if').notNull(),
    degradedMs: int('degraded_ms'),
    locations: json<string[]>('locations').notNull(),
    tags: json<string[]>('tags').notNull(),
    dependsOn: json<string[]>('depends_on').notNull(),
    dependencyGraceSeconds: int('dependency_grace_seconds').notNull(),
    // Null for the default channels of the workspace.
    channelIds: json<string[] | null>('channel_ids'),
    severity: text('severity', { enum: ['info', 'warning', 'critical'] }).notNull(),
    paused: flag('paused').notNull(),
    // The status as shown. The verdict without maintenance and pauses is in `state`.
    status: text('status', { enum: [...monitorStatuses] }).notNull(),
    statusSince: time('status_since').notNull(),
    state: json<MonitorState>('state').notNull(),
    // Incremented with each write of `status` or `state`: if two hubs judge the same results, only one wins.
    stateVersion: int('state_version').notNull(),
    // Written periodically, not with each check.
    lastCheckAt: time('last_check_at'),
    // The earliest expiry in the certificate chain of the last check, written with it; null if there was none.
    certificateExpiresAt: time('certificate_expires_at'),
  },
  t => [
    index('monitors_workspace').on(t.workspaceId, t.id),
    index('monitors_name').on(t.workspaceId, t.name, t.id),
    index('monitors_status').on(t.workspaceId, t.status, t.id),
    index('monitors_share').on(t.share),
    // SQLite doesn't allow table names in the condition of an index.
    index('monitors_certificate')
      .on(t.workspaceId, t.certificateExpiresAt, t.id)
      .where(sql`certificate_expires_at is not null`),
    index('monitors_updated').on(t.updatedAt),
    uniqueIndex('monitors_number').on(t.number),
    uniqueIndex('monitors_key').on(t.workspaceId, t.key),
  ],
)

/** Every change of the status: the basis of uptime. Kept as long as the monitor. */
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
    // A sentence: the error of the check, the maintenance window, or who paused it.
    reason: text('reason').notNull(),
    incidentId: text('incident_id'),
  },
  t => [index('monitor_transitions_monitor').on(t.monitorId, t.at, t.id)],
)

/** Which hub runs which share of the monitors. Claimed with a conditional update, renewed while the hub runs. */
export const monitorShares = table('monitor_shares', {
  share: int('share').primaryKey(),
  hubId: text('hub_id'),
  // End of the lease (ms UTC).
  until: time('until').notNull(),
  // When a hub last ran it. No checks ran between this time and the next claim.
  ranUntil: time('ran_until').notNull(),
})

/** Periods in which no hub ran a share. They count as unknown, neither up nor down. */
export const monitorGaps = table(
  'monitor_gaps',
  {
    id: text('id').primaryKey(),
    from: time('from_at').notNull(),
    to: time('to_at').notNull(),
    // Null for all shares.
    shares: json<number[] | null>('shares'),
  },
  t => [index('monitor_gaps_to').on(t.to)],
)
