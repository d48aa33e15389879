import { resourceColumns, workspaces } from '../../access/tables'
import { bytes, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { heartbeatMembers } from './shapes'
import type { OpenRun } from './status/state'

const columns = memberColumns(heartbeatMembers)

export const heartbeats = table(
  'heartbeats',
  {
    ...resourceColumns(),
    ...columns,
    // The migration has this default too.
    severity: columns.severity.default('critical'),
    uuidHash: text('uuid_hash').notNull(),
    uuidSealed: text('uuid_sealed').notNull(),
    // `grace` is not stored: it is `up` past expected_at.
    status: text('status', { enum: ['new', 'up', 'down', 'paused'] }).notNull(),
    // Until when the alert is held because of a maintenance window. Null if no alert is held.
    alertHeldUntil: time('alert_held_until'),
    // When the status last changed. While the heartbeat is down, when it went down.
    statusSince: time('status_since').notNull(),
    lastPingAt: time('last_ping_at'),
    openRuns: json<OpenRun[]>('open_runs').notNull(),
    lastDurationMs: int('last_duration_ms'),
    expectedAt: time('expected_at'),
    downAt: time('down_at'),
    pingCount: int('ping_count').notNull(),
  },
  t => [
    index('heartbeats_workspace').on(t.workspaceId, t.id),
    index('heartbeats_slug').on(t.workspaceId, t.slug),
    index('heartbeats_name').on(t.workspaceId, t.name, t.id),
    // The queue of due times. Each hub sets its timer to the first one.
    index('heartbeats_down').on(t.downAt),
    index('heartbeats_alert_held_until').on(t.alertHeldUntil),
    uniqueIndex('heartbeats_uuid').on(t.uuidHash),
  ],
)

export const pings = table(
  'pings',
  {
    heartbeatId: text('heartbeat_id')
      .notNull()
      .references(() => heartbeats.id, { onDelete: 'cascade' }),
    n: int('n').notNull(),
    kind: text('kind').notNull(),
    at: time('at').notNull(),
    exitStatus: int('exit_status'),
    durationMs: int('duration_ms'),
    rid: text('rid'),
    source: text('source').notNull(),
    userAgent: text('user_agent').notNull(),
    method: text('method').notNull(),
    body: bytes('body'),
  },
  t => [primaryKey({ columns: [t.heartbeatId, t.n] })],
)

export const flips = table(
  'flips',
  {
    id: text('id').primaryKey(),
    heartbeatId: text('heartbeat_id')
      .notNull()
      .references(() => heartbeats.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    from: text('from_status').notNull(),
    to: text('to_status').notNull(),
    reason: text('reason').notNull(),
  },
  t => [index('flips_heartbeat').on(t.heartbeatId, t.id)],
)

/** One key per workspace, for ping URLs with slugs. */
export const pingKeys = table(
  'ping_keys',
  {
    workspaceId: text('workspace_id')
      .primaryKey()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    keyHash: text('key_hash').notNull(),
    keySealed: text('key_sealed').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [uniqueIndex('ping_keys_hash').on(t.keyHash)],
)
