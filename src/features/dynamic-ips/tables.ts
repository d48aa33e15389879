import { sql } from 'drizzle-orm'
import { resourceColumns } from '../../access/tables'
import { flag, int, json, text, time } from '../../core/db/columns'
import { index, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { dynamicIpMembers, dynamicIpStatuses } from './shapes'
import { linkMembers, linkStatuses } from './link-shapes'
import type { Family } from './addresses'
import type { AddressChange } from './turns'

interface Hold {
  code: 'two_clients' | 'flapping'
  detail: string
  /** Milliseconds UTC. */
  since: number
  /** The last addresses that were refused. Repeating them does not extend the hold. */
  refused: string
}

/** The client that sent a report, as it is stored. */
export interface StoredClient {
  client: string
  user_agent: string | null
  dialect: string
  presented_by: string
  address: string | null
  https: boolean
}

export const dynamicIps = table(
  'dynamic_ips',
  {
    ...resourceColumns(),
    ...memberColumns(dynamicIpMembers),
    status: text('status', { enum: [...dynamicIpStatuses] }).notNull(),
    ipv4: text('ipv4'),
    ipv6: text('ipv6'),
    prefix6: text('prefix6'),
    // Null if revoked.
    tokenHash: text('token_hash'),
    tokenHint: text('token_hint'),
    tokenCreatedAt: time('token_created_at'),
    previousTokenHash: text('previous_token_hash'),
    previousValidUntil: time('previous_valid_until'),
    // Flushed every 10 seconds (calls.ts).
    lastSeenAt: time('last_seen_at'),
    lastClient: json<StoredClient>('last_client'),
    lastChangedAt: time('last_changed_at'),
    // When it becomes stale unless it reports; null if never, or if it is stale.
    staleAt: time('stale_at'),
    hold: json<Hold>('hold'),
    // When changes are accepted again; null if it isn’t held.
    heldUntil: time('held_until'),
    // Recent changes of the addresses, to detect two clients with one token.
    changes: json<AddressChange[]>('changes').notNull(),
  },
  t => [
    index('dynamic_ips_workspace').on(t.workspaceId, t.id),
    uniqueIndex('dynamic_ips_name').on(t.workspaceId, t.name),
    uniqueIndex('dynamic_ips_token').on(t.tokenHash),
    uniqueIndex('dynamic_ips_previous_token').on(t.previousTokenHash),
    index('dynamic_ips_stale')
      .on(t.staleAt)
      .where(sql`stale_at is not null`),
    index('dynamic_ips_held')
      .on(t.heldUntil)
      .where(sql`held_until is not null`),
  ],
)

export const dynamicIpHosts = table(
  'dynamic_ip_hosts',
  {
    id: text('id').primaryKey(),
    sourceId: text('source_id')
      .notNull()
      .references(() => dynamicIps.id, { onDelete: 'cascade' }),
    position: int('position').notNull(),
    // Fully qualified, in lower case, without a trailing dot.
    name: text('name').notNull(),
    zoneId: text('zone_id').notNull(),
    zoneName: text('zone_name').notNull(),
    // Null for those of the source.
    families: json<Family[]>('families'),
    mode: text('mode', { enum: ['address', 'prefix'] }).notNull(),
    suffix6: text('suffix6'),
    ttl: int('ttl'),
    adopt: flag('adopt').notNull(),
    // Addresses reported for this host alone.
    ipv4: text('ipv4'),
    ipv6: text('ipv6'),
    problem: json<{ code: string; detail: string; since: number; attempts: number }>('problem'),
  },
  t => [index('dynamic_ip_hosts_source').on(t.sourceId, t.position), uniqueIndex('dynamic_ip_hosts_name').on(t.zoneId, t.name)],
)

/** Firewall rules that follow the address of a source. */
export const dynamicIpLinks = table(
  'dynamic_ip_links',
  {
    id: text('id').primaryKey(),
    sourceId: text('source_id')
      .notNull()
      .references(() => dynamicIps.id, { onDelete: 'cascade' }),
    ...memberColumns(linkMembers),
    status: text('status', { enum: [...linkStatuses] }).notNull(),
    reason: json<{ code: string; detail: string }>('reason'),
    // The networks that the link added to the rule.
    applied: json<string[]>('applied').notNull(),
    pendingRemoval: json<{ cidr: string; at: number }[]>('pending_removal').notNull(),
    // When networks were added recently.
    changes: json<number[]>('changes').notNull(),
  },
  t => [index('dynamic_ip_links_source').on(t.sourceId, t.id), index('dynamic_ip_links_rule').on(t.firewallId, t.ruleId)],
)

/** History of the reports of a source. */
export const dynamicIpUpdates = table(
  'dynamic_ip_updates',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    sourceId: text('source_id')
      .notNull()
      .references(() => dynamicIps.id, { onDelete: 'cascade' }),
    at: time('at').notNull(),
    changed: flag('changed').notNull(),
    ipv4: text('ipv4'),
    ipv6: text('ipv6'),
    prefix6: text('prefix6'),
    details: json<StoredClient & { hosts: string[]; given: Record<string, string>; answers: string[]; explanation: string }>(
      'details',
    ).notNull(),
  },
  t => [index('dynamic_ip_updates_source').on(t.sourceId, t.id), index('dynamic_ip_updates_workspace').on(t.workspaceId, t.at)],
)
