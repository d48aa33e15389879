import { int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table } from '../../../core/db/dialect'
import { dnsRrsets } from '../records/tables'

/** Resolved addresses of the targets of ALIAS records. */
export const dnsAliasAddresses = table(
  'dns_alias_addresses',
  {
    rrsetId: text('rrset_id')
      .primaryKey()
      .references(() => dnsRrsets.id, { onDelete: 'cascade' }),
    zoneId: text('zone_id').notNull(),
    // Name of the rrset.
    name: text('name').notNull(),
    // Name that was resolved. Addresses aren’t served if the ALIAS has another target by now.
    target: text('target').notNull(),
    ipv4: json<string[]>('ipv4').notNull(),
    ipv6: json<string[]>('ipv6').notNull(),
    // Seconds. The next two columns are used to stabilize it (stable-ttl.ts).
    ttl: int('ttl').notNull(),
    highestTtl: int('highest_ttl').notNull(),
    ttlSince: time('ttl_since').notNull(),
    // Consecutive failed lookups.
    failures: int('failures').notNull(),
    lookedUpAt: time('looked_up_at').notNull(),
  },
  t => [index('dns_alias_addresses_zone').on(t.zoneId, t.name)],
)

/** The names that each ALIAS was followed through. A change of a zone that contains one of them may change its addresses. */
export const dnsAliasPaths = table(
  'dns_alias_paths',
  {
    rrsetId: text('rrset_id')
      .notNull()
      .references(() => dnsRrsets.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    // Labels in reverse order, without a trailing dot.
    nameReversed: text('name_reversed').notNull(),
  },
  t => [primaryKey({ columns: [t.rrsetId, t.nameReversed] }), index('dns_alias_paths_name').on(t.workspaceId, t.nameReversed)],
)
