import { bytes, int, json, text, time } from './columns'
import { index, primaryKey, table, uniqueIndex } from './dialect'

/** What the installation itself remembers: its id, the canary of the master key. */
export const instanceFacts = table('instance_facts', {
  name: text('name').primaryKey(),
  value: text('value').notNull(),
})

/** One row a running hub, renewed while it lives: how the others, and the next start, know who is there and since when nobody was. */
export const hubs = table('hubs', {
  id: text('id').primaryKey(),
  host: text('host').notNull(),
  version: text('version').notNull(),
  startedAt: time('started_at').notNull(),
  seenAt: time('seen_at').notNull(),
  // Fingerprint of the first key of its key file; null once it has left.
  masterKeyId: text('master_key_id'),
})

/** Gapless numbers. Raising one inside a transaction also makes the transactions that raise it take turns. */
export const counters = table('counters', {
  name: text('name').primaryKey(),
  value: int('value').notNull(),
  // Of a chain of audit entries: the hash of its last one. Beside the number, so that numbering and linking take one turn.
  head: bytes('head'),
})

export const auditEntries = table(
  'audit_entries',
  {
    id: text('id').primaryKey(),
    // Empty for what concerns the whole installation.
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
    // The chain: core/audit-chain.ts says what they are.
    prevHash: bytes('prev_hash').notNull(),
    hash: bytes('hash').notNull(),
    mac: bytes('mac').notNull(),
  },
  t => [
    uniqueIndex('audit_entries_chain').on(t.workspaceId, t.seq),
    index('audit_entries_target').on(t.workspaceId, t.targetId, t.seq),
    index('audit_entries_action').on(t.workspaceId, t.action, t.seq),
  ],
)

/** Signed statements on how far a chain of audit entries is, and below which entry it was pruned. Written once, like the entries. */
export const auditCheckpoints = table(
  'audit_checkpoints',
  {
    // Gapless over all chains.
    number: int('number').primaryKey(),
    chain: text('chain').notNull(),
    kind: text('kind', { enum: ['checkpoint', 'boundary'] }).notNull(),
    seq: int('seq').notNull(),
    count: int('count').notNull(),
    // Hexadecimal, as the signed statement has them.
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
  /** What the client itself called the request (X-Request-Id); absent and null are alike. */
  client_request_id?: string | null
  idempotency_key: string | null
  channel: 'api' | 'dashboard' | 'ingest' | 'cli' | 'job'
}
export interface AuditChanges {
  before: Record<string, unknown>
  after: Record<string, unknown>
}

/** Facts that happened. A row is the outbox of its change: dispatching it is a job. */
export const events = table(
  'events',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    // Place in the workspace's feed, in the order of commits and without gaps; ids are made before the commit and are not.
    position: int('position').notNull(),
    messageId: text('message_id').notNull(),
    kind: text('kind').notNull(),
    resourceType: text('resource_type').notNull(),
    resourceId: text('resource_id').notNull(),
    sequence: int('sequence').notNull(),
    occurredAt: time('occurred_at').notNull(),
    // The exact bytes of {event, data} that every try of every delivery sends.
    body: text('body').notNull(),
  },
  t => [
    index('events_workspace').on(t.workspaceId, t.id),
    uniqueIndex('events_position').on(t.workspaceId, t.position),
    uniqueIndex('events_sequence').on(t.resourceId, t.kind, t.sequence),
    index('events_resource').on(t.workspaceId, t.resourceId, t.position),
  ],
)

/** What the people of a workspace should know of: one row a standing matter, however often it comes up. */
export const notices = table(
  'notices',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    kind: text('kind').notNull(),
    severity: text('severity', { enum: ['info', 'warning', 'critical'] }).notNull(),
    // What it is about; all three null for the whole workspace.
    resourceType: text('resource_type'),
    resourceId: text('resource_id'),
    resourceName: text('resource_name'),
    text: text('text').notNull(),
    details: json<Record<string, unknown>>('details').notNull(),
    // Names the matter, so that it has one notice.
    matter: text('matter').notNull(),
    // How often the matter came up, and when it last did.
    count: int('count').notNull(),
    occurredAt: time('occurred_at').notNull(),
    readAt: time('read_at'),
    version: int('version').notNull(),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),
  },
  t => [
    uniqueIndex('notices_matter').on(t.workspaceId, t.matter),
    index('notices_workspace').on(t.workspaceId, t.occurredAt, t.id),
    index('notices_occurred').on(t.occurredAt),
  ],
)

export const jobs = table(
  'jobs',
  {
    id: text('id').primaryKey(),
    kind: text('kind').notNull(),
    // What takes turns with what: one endpoint's deliveries are one lane.
    lane: text('lane').notNull(),
    state: text('state', { enum: ['ready', 'running', 'failed'] }).notNull(),
    // Smaller goes first.
    priority: int('priority').notNull(),
    runAt: time('run_at').notNull(),
    attempts: int('attempts').notNull(),
    // Runs in a row that were never ended, since their process died or their lease ran out.
    lostRuns: int('lost_runs').notNull(),
    payload: json<Record<string, unknown>>('payload').notNull(),
    // Set where one job of a kind and key may wait at a time.
    uniqueKey: text('unique_key'),
    lockedBy: text('locked_by'),
    lockedUntil: time('locked_until'),
    lastError: text('last_error'),
    createdAt: time('created_at').notNull(),
    failedAt: time('failed_at'),
  },
  t => [
    // By lane, so that claims hop from one lane to the next whatever waits in each.
    index('jobs_due').on(t.state, t.kind, t.lane, t.priority, t.runAt),
    // When the next one is due, whatever its priority.
    index('jobs_next').on(t.state, t.kind, t.runAt),
    index('jobs_leases').on(t.state, t.lockedUntil),
    uniqueIndex('jobs_unique').on(t.kind, t.uniqueKey),
  ],
)

/** Lanes of jobs that are held back; see jobs/lane-holds.ts. */
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
    // The process that runs the request; null once the answer is stored.
    runningIn: text('running_in'),
    status: int('status'),
    body: text('body'),
    location: text('location'),
    etag: text('etag'),
    createdAt: time('created_at').notNull(),
  },
  t => [primaryKey({ columns: [t.workspaceId, t.method, t.path, t.key] }), index('idempotency_keys_created').on(t.createdAt)],
)

/** Keys that seal a workspace's secrets, each wrapped by the master key; the one without a workspace is the installation's. */
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

/** Encryptions that processes have taken for themselves under a data key: their sum tells when it is to be replaced. */
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
