import { sql } from 'drizzle-orm'
import { int, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { commandOutcomes, type CommandName } from '../../../wire/agent-command'
import { agents } from './tables'

/** Commands to agents. */
export const agentCommands = table(
  'agent_commands',
  {
    id: text('id').primaryKey(),
    agentId: text('agent_id')
      .notNull()
      .references(() => agents.id, { onDelete: 'cascade' }),
    // The action that waits for it; null if none does.
    actionId: text('action_id'),
    name: text('name').$type<CommandName>().notNull(),
    // As it is sent.
    payload: text('payload').notNull(),
    signature: text('signature').notNull(),
    // From then on, the agent can fetch it; null if it was sent often enough.
    sendAt: time('send_at'),
    expiresAt: time('expires_at').notNull(),
    // When it was sent last, and how often.
    sentAt: time('sent_at'),
    sends: int('sends').notNull(),
    finishedAt: time('finished_at'),
    // Null if it has not finished, or its action did not wait for it.
    outcome: text('outcome', { enum: [...commandOutcomes] }),
    detail: text('detail'),
    output: text('output'),
  },
  t => [
    uniqueIndex('agent_commands_action')
      .on(t.actionId)
      .where(sql`action_id is not null`),
    index('agent_commands_open')
      .on(t.agentId)
      .where(sql`finished_at is null`),
    index('agent_commands_due')
      .on(t.sendAt)
      .where(sql`finished_at is null`),
    index('agent_commands_expiry').on(t.expiresAt),
  ],
)
