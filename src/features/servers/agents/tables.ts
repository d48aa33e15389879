import { sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import type { AgentConfig, AgentFacts } from '../../../wire/agent'
import { stopReasons } from '../../../wire/agent'
import type { AgentPermission } from '../../../wire/agent-permissions'
import { enrolmentKeys } from '../enrolment-keys/tables'
import { servers } from '../tables'
import { agentStates, agentUpdateStates, updatePolicies } from './shapes'

/** A run of the program: it ends when the program or its server stops. */
export interface AgentRun {
  id: string
  bootId: string
  /** Number of its last report. */
  seq: number
  /** When it was replaced by another one (ms UTC); null while it is the current one. */
  replacedAt: number | null
}

/** The agents of servers: at most one that reports about a server, and those that await approval or were revoked. */
export const agents = table(
  'agents',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    // Name of its host.
    name: text('name').notNull(),
    // The server that it reports about; null while it awaits approval, and once it is revoked.
    serverId: text('server_id').references(() => servers.id, { onDelete: 'cascade' }),
    // The server that it would report about once it is approved, or reported about before it was revoked.
    otherServerId: text('other_server_id').references(() => servers.id, { onDelete: 'set null' }),
    state: text('state', { enum: [...agentStates] }).notNull(),
    // Version of its program.
    version: text('version').notNull(),
    // Pause between two reports.
    intervalSeconds: int('interval_seconds').notNull(),
    // What the owner of the server allows in a file there.
    allow: json<AgentPermission[]>('allow').notNull(),
    // Null until its token is issued.
    tokenHash: text('token_hash'),
    tokenHint: text('token_hint'),
    previousTokenHash: text('previous_token_hash'),
    previousValidUntil: time('previous_valid_until'),
    // As in `publicKeyText`; null if it doesn’t sign its requests.
    publicKey: text('public_key'),
    machineIdHash: text('machine_id_hash').notNull(),
    // The key that it was enrolled with; null if it was deleted.
    enrolmentKeyId: text('enrolment_key_id').references(() => enrolmentKeys.id, { onDelete: 'set null' }),
    // Address from which it last sent a request.
    address: text('address'),
    // When its last report was signed. Hubs that have not received it accept no requests signed before it.
    signedAt: time('signed_at'),
    // The current run, those that it replaced recently, and those that were refused, because they are of another machine.
    runs: json<AgentRun[]>('runs').notNull(),
    refusedRuns: json<string[]>('refused_runs').notNull(),
    // Time of the hub minus time of the server.
    clockOffsetMs: int('clock_offset_ms'),
    // Minutes that wait to be sent, and that were lost because too many waited.
    spooled: int('spooled').notNull(),
    dropped: int('dropped').notNull(),
    // What the hub decides.
    config: json<AgentConfig>('config').notNull(),
    lastSeenAt: time('last_seen_at').notNull(),
    lastReportAt: time('last_report_at'),
    // When it last sent its certificates; null if it never did.
    certificatesAt: time('certificates_at'),
    // Whether they have changed since they were recorded in the inventory of certificates.
    certificatesPending: flag('certificates_pending').notNull().default(true),
    // When it counts as silent unless it reports before; null once it does.
    dueAt: time('due_at'),
    // Since when it is silent.
    silentAt: time('silent_at'),
    // Whether all agents of the workspace became silent together, so that nothing is concluded from it.
    disconnected: flag('unheard').notNull(),
    // Whether the workspace was notified of its silence.
    notified: flag('notified').notNull(),
    // Why it stopped; null unless it did.
    stopReason: text('stop_reason', { enum: [...stopReasons] }),
    // Whether its state changed, and the health of its server has not been concluded from it yet.
    pending: flag('pending').notNull(),
    // Null: as the workspace says.
    updatePolicy: text('update_policy', { enum: [...updatePolicies] }),
    // The last update: its progress, its version, why it failed, when this changed, and the command to the agent. Null if there was none.
    updateState: text('update_state', { enum: [...agentUpdateStates] }),
    updateVersion: text('update_version'),
    updateDetail: text('update_detail'),
    updateAt: time('update_at'),
    updateCommandId: text('update_command_id'),
    facts: json<AgentFacts | null>('facts'),
    factsAt: time('facts_at'),
    createdAt: time('created_at').notNull(),
  },
  t => [
    uniqueIndex('agents_server').on(t.serverId),
    index('agents_other_server').on(t.otherServerId),
    index('agents_certificates_pending')
      .on(t.id)
      .where(sql`certificates_pending`),
    uniqueIndex('agents_token').on(t.tokenHash),
    uniqueIndex('agents_previous_token').on(t.previousTokenHash),
    index('agents_machine').on(t.workspaceId, t.machineIdHash),
    index('agents_enrolment_key').on(t.enrolmentKeyId),
    index('agents_list').on(t.workspaceId, t.id),
    index('agents_created').on(t.workspaceId, t.createdAt, t.id),
    index('agents_name').on(t.workspaceId, t.name, t.id),
    index('agents_workspace').on(t.workspaceId, t.state, t.id),
    index('agents_update').on(t.workspaceId, t.updateState, t.id),
    index('agents_automatic')
      .on(t.workspaceId)
      .where(sql`update_policy = 'auto'`),
    index('agents_version').on(t.workspaceId, t.version, t.id),
    index('agents_unlinked')
      .on(t.lastSeenAt)
      .where(sql`server_id is null`),
    index('agents_due')
      .on(t.dueAt)
      .where(sql`due_at is not null`),
    index('agents_pending')
      .on(t.id)
      .where(sql`pending`),
    index('agents_silent')
      .on(t.id)
      .where(sql`state = 'silent' and not notified and not unheard`),
    index('agents_unheard')
      .on(t.workspaceId)
      .where(sql`unheard`),
  ],
)

/** What agents report as a whole when it changed, in addition to facts. */
export const partNames = [
  'containers',
  'units',
  'disks',
  'arrays',
  'sockets',
  'mounts',
  'sessions',
  'processes',
  'problems',
] as const
export type PartName = (typeof partNames)[number]
/** The same with packages, which are many, and therefore read only when someone asks for them. */
export const storedParts = [...partNames, 'packages'] as const
export type StoredPart = (typeof storedParts)[number]

/** The parts that agents reported last. */
export const agentParts = table(
  'agent_parts',
  {
    // Of the agent and the name.
    id: text('id').primaryKey(),
    agentId: text('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    name: text('name', { enum: [...storedParts] }).notNull(),
    data: json<readonly unknown[]>('data').notNull(),
    // When it was reported.
    at: time('at').notNull(),
  },
  t => [index('agent_parts_agent').on(t.agentId)],
)

/** The conditions of its indexes. SQLite uses an index only for queries that contain its condition. */
export const isPending = sql`${agents.pending}`
export const isUpdatedAutomatically = sql`${agents.updatePolicy} = 'auto'`
export const isDisconnected = sql`${agents.disconnected}`
export const isToNotify = sql`${agents.state} = 'silent' and not ${agents.notified} and not ${agents.disconnected}`

/** The condition of its index. SQLite uses the index only for queries that contain it. */
export const hasNewCertificates = sql`${agents.certificatesPending}`
