import { json, text, time } from '../../../core/db/columns'
import { table } from '../../../core/db/dialect'
import { servers } from '../tables'
import { hostStates } from './host-shapes'

/** The tables of nftables on servers whose agents enforce firewalls, at most one per server. */
export const hostFirewalls = table('host_firewalls', {
  serverId: text('server_id')
    .primaryKey()
    .references(() => servers.id, { onDelete: 'cascade' }),
  // SHA-256 of the rule set that was sent last, in hexadecimal.
  digest: text('digest').notNull(),
  state: text('state', { enum: [...hostStates] }).notNull(),
  // Version of the rules of each firewall in it, by ID.
  versions: json<Record<string, number>>('versions').notNull(),
  sentAt: time('sent_at').notNull(),
})
