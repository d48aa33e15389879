import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { monitorMembers, monitorStatuses, monitorTypes } from './shapes'
import type { MonitorState } from './verdict/state'

export const monitors = table(
  'monitors',
  {
    ...resourceColumns(),
    // Identifies the monitor in series: 8 bytes instead of 30. Never reused.
    number: int('number').notNull(),
    // The share it belongs to, a hash of its id from 0 to 255. Hubs divide the shares among themselves.
    share: int('share').notNull(),
    type: text('type', { enum: [...monitorTypes] }).notNull(),
    ...memberColumns(monitorMembers),
    secretsSealed: text('secrets_sealed'),
    // JSON pointers below `options`.
    secretNames: json<string[]>('secret_names').notNull(),
    paused: flag('paused').notNull(),
    // The status as shown. The verdict without maintenance and pauses is in `state`.
    status: text('status', { enum: [...monitorStatuses] }).notNull(),
    // The place of `status` in a list with problems first: see statusRank. The migration has this default.
    statusRank: int('status_rank').notNull().default(0),
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
    index('monitors_problems').on(t.workspaceId, t.statusRank, t.name, t.id),
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
