import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import type { DomainFacts } from './facts'
import { domainMembers, type DomainView } from './shapes'
import {
  delegationStates,
  domainStatuses,
  expiryConfidences,
  expirySources,
  managements,
  moveSources,
  syncStates,
} from './statuses'

export const domains = table(
  'domains',
  {
    ...resourceColumns(),
    ...memberColumns(domainMembers),
    unicodeName: text('unicode_name').notNull(),
    tld: text('tld').notNull(),
    management: text('management', { enum: [...managements] }).notNull(),
    status: text('status', { enum: [...domainStatuses] }).notNull(),
    statusSince: time('status_since').notNull(),
    // When the registration ends, see effective-end.ts. Null if that is not known.
    expiresAt: time('expires_at'),
    // The same for the order of lists, in which unknown ends come last.
    expiresOrder: time('expires_order').notNull(),
    expirySource: text('expiry_source', { enum: [...expirySources] }),
    expiryConfidence: text('expiry_confidence', { enum: [...expiryConfidences] }).notNull(),
    expiryHint: text('expiry_hint'),
    // What people entered.
    givenExpiresAt: time('given_expires_at'),
    registrarExpiresAt: time('registrar_expires_at'),
    registryExpiresAt: time('registry_expires_at'),
    // From the last readings: those of the registrar, or else of the registry.
    facts: json<DomainFacts>('facts').notNull(),
    // In columns of their own for filters; null if it is not known.
    autoRenew: flag('auto_renew'),
    delegationState: text('delegation_state', { enum: [...delegationStates] }).notNull(),
    delegation: json<Omit<DomainView['delegation'], 'state'>>('delegation').notNull(),
    syncState: text('sync_state', { enum: [...syncStates] }).notNull(),
    checkedAt: time('checked_at'),
    nextCheckAt: time('next_check_at'),
    syncError: text('sync_error'),
    // When the registry first said that the name is not registered. Null if it didn’t the last time.
    absentSince: time('absent_since'),
    // The end about which `domain.expiring` was last sent, and the smallest number of days of those events; -1 after the end.
    notifiedEnd: time('notified_end'),
    notifiedDay: int('notified_day'),
    // How often its registry is asked.
    lookEverySeconds: int('look_every_seconds').notNull(),
    // When the passing of time next changes something: the status, or an event is due. Null if nothing is.
    dueAt: time('due_at'),
    registrantId: text('registrant_id'),
    adminId: text('admin_id'),
    techId: text('tech_id'),
    billingId: text('billing_id'),
  },
  t => [
    index('domains_workspace').on(t.workspaceId, t.id),
    uniqueIndex('domains_name').on(t.workspaceId, t.name),
    index('domains_expires').on(t.workspaceId, t.expiresOrder, t.id),
    index('domains_status').on(t.workspaceId, t.status, t.id),
    index('domains_created').on(t.workspaceId, t.createdAt, t.id),
    index('domains_account').on(t.registrarAccountId, t.id),
    // The same name can be in several workspaces.
    index('domains_everywhere').on(t.name),
    index('domains_due')
      .on(t.dueAt)
      .where(sql`due_at is not null`),
  ],
)

/**
 * The last reading of each source of a domain. What its registry says is in `registry_facts`, once for the installation, because it is
 * the same for all workspaces.
 */
export const domainReadings = table(
  'domain_readings',
  {
    domainId: text('domain_id')
      .notNull()
      .references(() => domains.id, { onDelete: 'cascade' }),
    source: text('source', { enum: ['registrar'] }).notNull(),
    at: time('at').notNull(),
    state: text('state', { enum: ['found', 'absent', 'unknown'] }).notNull(),
    // Those of the last reading that found it.
    facts: json<DomainFacts | null>('facts'),
    // Since when it has been the date of the facts (ms UTC).
    expiresSince: time('expires_since'),
    // Why it is not known, or absent. Null if it was found.
    detail: text('detail'),
  },
  t => [primaryKey({ columns: [t.domainId, t.source] })],
)

/** Changes of the status of a domain. */
export const domainHistory = table(
  'domain_history',
  {
    id: text('id').primaryKey(),
    domainId: text('domain_id')
      .notNull()
      .references(() => domains.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    from: text('from_status', { enum: [...domainStatuses] }).notNull(),
    to: text('to_status', { enum: [...domainStatuses] }).notNull(),
    source: text('source', { enum: [...moveSources] }).notNull(),
    irregular: flag('irregular').notNull(),
  },
  t => [index('domain_history_domain').on(t.domainId, t.id)],
)
