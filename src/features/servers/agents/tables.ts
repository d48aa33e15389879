import { sql } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { servers } from '../tables'
import { agentStates, stopReasons, type AgentFacts, type AgentPermission } from './shapes'

/** The agents that run on servers, at most one per server. */
export const agents = table(
  'agents',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    state: text('state', { enum: [...agentStates] }).notNull(),
    // Version of its program.
    version: text('version').notNull(),
    // Pause between two reports.
    intervalSeconds: int('interval_seconds').notNull(),
    // What the owner of the server allows in a file there.
    allow: json<AgentPermission[]>('allow').notNull(),
    lastSeenAt: time('last_seen_at').notNull(),
    // When it counts as silent unless it reports before; null once it does.
    dueAt: time('due_at'),
    // Since when it is silent.
    silentAt: time('silent_at'),
    // Whether all agents of the workspace became silent together, so that nothing is concluded from it.
    unheard: flag('unheard').notNull(),
    // Whether the workspace was notified of its silence.
    notified: flag('notified').notNull(),
    // Why it stopped; null unless it did.
    stopReason: text('stop_reason', { enum: [...stopReasons] }),
    // Whether its state changed, and the health of its server has not been concluded from it yet.
    pending: flag('pending').notNull(),
    facts: json<AgentFacts | null>('facts'),
    factsAt: time('facts_at'),
    createdAt: time('created_at').notNull(),
  },
  t => [
    uniqueIndex('agents_server').on(t.serverId),
    index('agents_workspace').on(t.workspaceId, t.state, t.id),
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

/** The conditions of its indexes. SQLite uses an index only for queries that contain its condition. */
export const isPending = sql`${agents.pending}`
export const isUnheard = sql`${agents.unheard}`
export const isToNotify = sql`${agents.state} = 'silent' and not ${agents.notified} and not ${agents.unheard}`
