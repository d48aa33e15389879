import { sql } from 'drizzle-orm'
import { int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table } from '../../core/db/dialect'
import type { RegistryFacts } from './reading'

/** The last query of a name at one source. */
export interface Evidence {
  source: 'rdap' | 'whois'
  /** The key of the server, see sources.ts. */
  server: string
  result: 'found' | 'absent' | 'unknown'
  /** ms UTC */
  at: number
  /** Why, as a sentence; null for `found`. */
  detail: string | null
}

/** What registries say about names, once for the installation: the facts are public. */
export const registryFacts = table(
  'registry_facts',
  {
    // A-labels in lowercase without a trailing dot.
    name: text('name').primaryKey(),
    tld: text('tld').notNull(),
    // From the last query that counts. Queries that failed change neither it nor the facts.
    state: text('state', { enum: ['found', 'absent', 'unknown'] }).notNull(),
    // When that was; null before the first.
    readAt: time('read_at'),
    // Null unless it is found.
    facts: json<RegistryFacts | null>('facts'),
    // When the registration ends (see endOf), and when that was last changed here.
    endsAt: time('ends_at'),
    endsChangedAt: time('ends_changed_at').notNull(),
    // The last query of each source, the latest first.
    evidence: json<Evidence[]>('evidence').notNull(),
    // Queries in a row that failed.
    failures: int('failures').notNull(),
    nextLookAt: time('next_look_at').notNull(),
  },
  t => [
    index('registry_facts_due').on(t.nextLookAt),
    index('registry_facts_tld').on(t.tld),
    index('registry_facts_changed').on(t.endsChangedAt),
  ],
)

/** Who wants to know about a name, and how often. */
export const registryInterests = table(
  'registry_interests',
  {
    holderType: text('holder_type', { enum: ['monitor', 'domain', 'canary'] }).notNull(),
    // Its id; for a canary the top-level domain.
    holderId: text('holder_id').notNull(),
    name: text('name').notNull(),
    everySeconds: int('every_seconds').notNull(),
  },
  t => [primaryKey({ columns: [t.holderType, t.holderId] }), index('registry_interests_name').on(t.name, t.everySeconds)],
)

/** The state of the servers that are queried, shared by all hubs. */
export const registryHosts = table(
  'registry_hosts',
  {
    // The key of the server, see sources.ts.
    server: text('server').primaryKey(),
    // When the pace of the server would allow a query if no burst was allowed (generic cell rate algorithm).
    paceAt: time('pace_at').notNull(),
    // Queries on a day, as the number of days since 1970 (UTC).
    day: int('day').notNull(),
    usedToday: int('used_today').notNull(),
    // Queries in a row that the server didn’t answer.
    failures: int('failures').notNull(),
    // No queries are sent before.
    blockedUntil: time('blocked_until'),
    lastError: text('last_error'),
    lastOkAt: time('last_ok_at'),
  },
  t => [
    index('registry_hosts_blocked')
      .on(t.blockedUntil)
      .where(sql`blocked_until is not null`),
  ],
)
