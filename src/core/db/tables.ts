import { bytes, int, json, text, time } from './columns'
import { index, primaryKey, table, uniqueIndex } from './dialect'

/** Facts of the installation, such as its id and the canary of the master key. */
export const instanceFacts = table('instance_facts', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
})

/** One row per running hub, updated regularly. Shows other hubs which ones are running, and the next start how long none was. */
export const hubs = table('hubs', {
  id: text('id').primaryKey(),
  host: text('host').notNull(),
  version: text('version').notNull(),
  startedAt: time('started_at').notNull(),
  seenAt: time('seen_at').notNull(),
  // Fingerprint of the first key of its key file; null after it stopped.
  masterKeyId: text('master_key_id'),
})

/** Gapless sequences. Incrementing one locks it until the transaction ends. */
export const counters = table('counters', {
  name: text('name').primaryKey(),
  value: int('value').notNull(),
  // For an audit chain: the hash of its last event, in the same row so that both are locked together.
  head: bytes('head'),
})

export const auditEntries = table(
  'audit_entries',
  {
    id: text('id').primaryKey(),
    // Empty for the whole installation.
    workspaceId: text('workspace_id').notNull(),
    seq: int('seq').notNull(),
    occurredAt: time('occurred_at').notNull(),
    action: text('action').notNull(),
    outcome: text('outcome', { enum: ['success', 'failure', 'denied'] }).notNull(),
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id').notNull(),
    actor: json<AuditActor>('actor').notNull(),
    targetId: text('target_id').notNull(),
    targets: json<AuditTarget[]>('targets').notNull(),
    context: json<AuditContext>('context').notNull(),
    changes: json<AuditChanges | null>('changes'),
    reason: text('reason'),
    // The hash chain, see core/audit-chain.ts.
    prevHash: bytes('prev_hash').notNull(),
    hash: bytes('hash').notNull(),
    mac: bytes('mac').notNull(),
  },
  t => [
    uniqueIndex('audit_entries_chain').on(t.workspaceId, t.seq),
    index('audit_entries_target').on(t.workspaceId, t.targetId, t.seq),
    index('audit_entries_action').on(t.workspaceId, t.action, t.seq),
    index('audit_entries_actor').on(t.workspaceId, t.actorId, t.seq),
    index('audit_entries_outcome').on(t.workspaceId, t.outcome, t.seq),
    index('audit_entries_occurred').on(t.workspaceId, t.occurredAt, t.seq),
  ],
)

/** Signed checkpoints of audit chains, and the boundaries below which chains were pruned. Immutable, like the audit events. */
export const auditCheckpoints = table(
  'audit_checkpoints',
  {
    // Gapless across all chains.
    number: int('number').primaryKey(),
    chain: text('chain').notNull(),
    kind: text('kind', { enum: ['checkpoint', 'boundary'] }).notNull(),
    seq: int('seq').notNull(),
    count: int('count').notNull(),
    // Hexadecimal, as in the signed statement.
    head: text('head').notNull(),
    prevCheckpoint: text('prev_checkpoint'),
    time: time('time').notNull(),
    keyId: text('key_id').notNull(),
    signature: text('signature').notNull(),
  },
  t => [index('audit_checkpoints_chain').on(t.chain, t.number), index('audit_checkpoints_kind').on(t.chain, t.kind, t.seq)],
)

export interface AuditActor {
  type: 'user' | 'token' | 'ingest' | 'system' | 'operator' | 'anonymous'
  id: string
  name: string | null
  hint: string | null
}
export interface AuditTarget {
  type: string
  id: string
  name: string | null
}
export interface AuditContext {
  ip: string | null
  user_agent: string | null
  request_id: string | null
  /** The client's X-Request-Id. Absent means null. */
  client_request_id?: string | null
  idempotency_key: string | null
  channel: 'api' | 'dashboard' | 'ingest' | 'cli' | 'job'
}
export interface AuditChanges {
  before: Record<string, unknown>
  after: Record<string, unknown>
}

/** Events. Written in the transaction of their change (outbox) and dispatched by jobs. */
export const events = table(
  'events',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    // Position in the feed of the workspace, gapless and in commit order; ids are not, because they are created before the
    // commit.
    position: int('position').notNull(),
    messageId: text('message_id').notNull(),
    kind: text('kind').notNull(),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    sequence: int('sequence').notNull(),
    occurredAt: time('occurred_at').notNull(),
    // The exact bytes of {event, data} sent in every delivery attempt.
    body: text('body').notNull(),
  },
  t => [
    uniqueIndex('events_position').on(t.workspaceId, t.position),
    uniqueIndex('events_sequence').on(t.resourceId, t.kind, t.sequence),
    index('events_resource').on(t.workspaceId, t.resourceId, t.position),
    index('events_occurred').on(t.workspaceId, t.occurredAt, t.position),
  ],
)

/** Notices to the members of a workspace: one row per issue, even if it recurs. */
export const notices = table(
  'notices',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    kind: text('kind').notNull(),
    severity: text('severity', { enum: ['info', 'warning', 'critical'] }).notNull(),
    // The resource it concerns; all null for the whole workspace.
    resourceType: text('resource_type'),
    resourceId: text('resource_id'),
    resourceName: text('resource_name'),
    text: text('text').notNull(),
    details: json<Record<string, unknown>>('details').notNull(),
    // Identifies the issue, so that it has only one notice.
    dedupKey: text('dedup_key').notNull(),
    // How often the issue occurred, and when it last did.
    count: int('count').notNull(),
    occurredAt: time('occurred_at').notNull(),
    readAt: time('read_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('notices_dedup_key').on(t.workspaceId, t.dedupKey),
    index('notices_workspace').on(t.workspaceId, t.occurredAt, t.id),
    index('notices_occurred').on(t.occurredAt),
  ],
)

export const jobs = table(
  'jobs',
  {
    id: text('id').primaryKey(),
    kind: text('kind').notNull(),
    // Lanes are served by round robin; for example, the deliveries of an endpoint are a lane.
    lane: text('lane').notNull(),
    state: text('state', { enum: ['ready', 'running', 'failed'] }).notNull(),
    // Lower values run first.
    priority: int('priority').notNull(),
    runAt: time('run_at').notNull(),
    attempts: int('attempts').notNull(),
    // Consecutive runs that never finished because their process died or their lease expired.
    lostRuns: int('lost_runs').notNull(),
    payload: json<Record<string, unknown>>('payload').notNull(),
    // Set if only one job with this kind and key can wait at a time.
    uniqueKey: text('unique_key'),
    lockedBy: text('locked_by'),
    lockedUntil: time('locked_until'),
    lastError: text('last_error'),
    createdAt: time('created_at').notNull(),
    failedAt: time('failed_at'),
  },
  t => [
    // By lane, so that claims can skip from lane to lane.
    index('jobs_due').on(t.state, t.kind, t.lane, t.priority, t.runAt),
    // For the next due job of any priority.
    index('jobs_next').on(t.state, t.kind, t.runAt),
    index('jobs_leases').on(t.state, t.lockedUntil),
    uniqueIndex('jobs_unique').on(t.kind, t.uniqueKey),
  ],
)

/** Held lanes, see jobs/lane-holds.ts. */
export const heldLanes = table(
  'held_lanes',
  {
    kind: text('kind').notNull(),
    lane: text('lane').notNull(),
    heldUntil: time('held_until').notNull(),
  },
  t => [primaryKey({ columns: [t.kind, t.lane] })],
)

export const idempotencyKeys = table(
  'idempotency_keys',
  {
    workspaceId: text('workspace_id').notNull(),
    method: text('method').notNull(),
    path: text('path').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    // The process that runs the request; null once the response is stored.
    runningIn: text('running_in'),
    status: int('status'),
    body: text('body'),
    location: text('location'),
    etag: text('etag'),
    createdAt: time('created_at').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.method, t.path, t.key] }), index('idempotency_keys_created').on(t.createdAt)],
)

/** Data keys for the secrets of workspaces, wrapped with the master key. The one without a workspace is the installation key. */
export const dataKeys = table(
  'data_keys',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    masterKeyId: text('master_key_id').notNull(),
    wrapped: text('wrapped').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [index('data_keys_workspace').on(t.workspaceId, t.createdAt)],
)

/** Encryptions that processes have reserved for a data key. Their sum determines when the key is replaced. */
export const dataKeyUses = table(
  'data_key_uses',
  {
    id: text('id').primaryKey(),
    keyId: text('key_id')
      .notNull()
      .references(() => dataKeys.id, { onDelete: 'cascade' }),
    encryptions: int('encryptions').notNull(),
  },
  t => [index('data_key_uses_key').on(t.keyId)],
)
