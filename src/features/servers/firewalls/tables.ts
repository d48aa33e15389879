import { resourceColumns } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'
import type { AuditActor } from '../../../core/db/tables'
import { memberColumns } from '../../../core/members'
import { cloudAccounts } from '../accounts/tables'
import { labelTable } from '../label-tables'
import { servers } from '../tables'
import type { Entry, FirewallRule, PlainRule, GuardCode } from './rules'
import { attachmentStates, firewallMembers, type confirmModes, type FirewallVersionView } from './shapes'

/** A change of rules that is reverted unless it is confirmed. */
interface Pending {
  rulesVersion: number
  restoreVersion: number
  confirm: (typeof confirmModes)[number]
  /** How long the servers wait for the confirmation once they have the rules. */
  confirmSeconds: number
  /** When the previous rules are restored (ms UTC); null until the rules are applied. */
  expiresAt: number | null
  isConfirmed: boolean
  /** Whether someone asked to restore the previous rules. */
  isTakenBack: boolean
  changedBy: AuditActor
}

/** What was changed at the cloud. */
export interface Drift {
  detectedAt: number
  isAttached: boolean
  changedDefaults: PlainRule['direction'][]
  added: Entry[]
  removed: Entry[]
  /** The rules at the cloud. */
  rules: PlainRule[]
}

export const firewalls = table(
  'firewalls',
  {
    ...resourceColumns(),
    ...memberColumns(firewallMembers),
    rules: json<FirewallRule[]>('rules').notNull(),
    blocks: json<string[]>('blocks').notNull(),
    rulesVersion: int('rules_version').notNull(),
    pending: json<Pending>('pending'),
    // The action that is applying the rules.
    actionId: text('action_id'),
    // When changes at the cloud were reverted recently (ms UTC).
    enforcedAt: json<number[]>('enforced_at').notNull(),
  },
  t => [
    index('firewalls_workspace').on(t.workspaceId, t.id),
    uniqueIndex('firewalls_name').on(t.workspaceId, t.name),
    index('firewalls_created').on(t.workspaceId, t.createdAt, t.id),
  ],
)

/** The servers that have a firewall. */
export const firewallAttachments = table(
  'firewall_attachments',
  {
    firewallId: text('firewall_id')
      .notNull()
      .references(() => firewalls.id, { onDelete: 'cascade' }),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    // The account whose cloud enforces it; null if the agent of the server does.
    accountId: text('account_id').references(() => cloudAccounts.id, { onDelete: 'cascade' }),
    state: text('state', { enum: [...attachmentStates] }).notNull(),
    // Version of the rules that was applied last; null if none was.
    rulesVersion: int('rules_version'),
    appliedAt: time('applied_at'),
    // Whether people attached it, and whether the label selector selects it.
    isDirect: flag('is_direct').notNull(),
    isSelected: flag('is_selected').notNull(),
    error: text('error'),
    warning: text('warning'),
    drift: json<Drift>('drift'),
  },
  t => [
    primaryKey({ columns: [t.firewallId, t.serverId] }),
    index('firewall_attachments_server').on(t.serverId),
    index('firewall_attachments_account').on(t.accountId, t.firewallId),
  ],
)

/** Servers that the label selector of a firewall selects, but that can't have it. */
export const firewallRefusals = table(
  'firewall_refusals',
  {
    firewallId: text('firewall_id')
      .notNull()
      .references(() => firewalls.id, { onDelete: 'cascade' }),
    serverId: text('server_id')
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    reason: text('reason').notNull(),
  },
  t => [primaryKey({ columns: [t.firewallId, t.serverId] }), index('firewall_refusals_server').on(t.serverId)],
)

export const firewallLabels = labelTable('firewall_labels', () => firewalls.id)

/** The rules of a firewall over time. */
export const firewallVersions = table(
  'firewall_versions',
  {
    id: text('id').primaryKey(),
    firewallId: text('firewall_id')
      .notNull()
      .references(() => firewalls.id, { onDelete: 'cascade' }),
    rulesVersion: int('rules_version').notNull(),
    rules: json<FirewallRule[]>('rules').notNull(),
    blocks: json<string[]>('blocks').notNull(),
    reason: text('reason').$type<FirewallVersionView['reason']>().notNull(),
    note: text('note'),
    allowed: json<GuardCode[]>('allowed').notNull(),
    actor: json<AuditActor>('actor').notNull(),
    createdAt: time('created_at').notNull(),
  },
  t => [
    uniqueIndex('firewall_versions_version').on(t.firewallId, t.rulesVersion),
    index('firewall_versions_firewall').on(t.firewallId, t.id),
  ],
)
