import { int, json, text, time } from '../../../core/db/columns'
import { index, primaryKey, table } from '../../../core/db/dialect'
import { dnsRrsets } from '../tables'

/** What the target of each ALIAS was found to have. */
export const dnsAliasAddresses = table(
  'dns_alias_addresses',
  {
    rrsetId: text('rrset_id')
      .primaryKey()
      .references(() => dnsRrsets.id, { onDelete: 'cascade' }),
    zoneId: text('zone_id').notNull(),
    // Of the rrset.
    name: text('name').notNull(),
    // The name that was looked up. Addresses of another one than the ALIAS has by now are served to nobody.
    target: text('target').notNull(),
    ipv4: json<string[]>('ipv4').notNull(),
    ipv6: json<string[]>('ipv6').notNull(),
    // Seconds; the next two are how it is kept steady (steady-ttl.ts).
    ttl: int('ttl').notNull(),
    highestTtl: int('highest_ttl').notNull(),
    ttlSince: time('ttl_since').notNull(),
    // Lookups in a row that came to nothing.
    failures: int('failures').notNull(),
    lookedUpAt: time('looked_up_at').notNull(),
  },
  t => [index('dns_alias_addresses_zone').on(t.zoneId, t.name)],
)

/** The names that each ALIAS leads to, its target first: a change of a zone that one of them is in may change its addresses. */
export const dnsAliasWays = table(
  'dns_alias_ways',
  {
    rrsetId: text('rrset_id')
      .notNull()
      .references(() => dnsRrsets.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    // Labels from the right, without the dot at the end.
    nameReversed: text('name_reversed').notNull(),
  },
  t => [primaryKey({ columns: [t.rrsetId, t.nameReversed] }), index('dns_alias_ways_name').on(t.workspaceId, t.nameReversed)],
)
