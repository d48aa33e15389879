import { and, eq, gt, gte, inArray, lt, min, ne, notExists, sql } from 'drizzle-orm'
import type { Hub } from '../../core/hub'
import { prepared } from '../../core/db/prepared'
import type { Reader, Tx } from '../../core/db/transaction'
import { record } from '../../core/change'
import { forUpdate } from '../../core/db/dialect'
import { insertRows, type OnConflict } from '../../core/db/insert-rows'
import { forgetDemand } from './demand'
import { registrableName } from './registrable-name'
import { canaryOf } from './sources'
import { registryFacts, registryHosts, registryInterests } from './tables'

/** Who wants to know about a name. */
interface Holder {
  type: (typeof registryInterests.$inferSelect)['holderType']
  id: string
}

/** What a new holder wants. */
interface NewInterest {
  /** The ID of the holder. */
  id: string
  name: string
  tld: string
  everySeconds: number
}

/** How often servers are asked for their canary while another name below the same top-level domain is watched. */
const canarySeconds = 86_400

/**
 * Declares which name a holder wants to know about, and how often it has to be looked up at least. Replaces what the holder declared before.
 * A name that nobody wanted before is looked up within seconds.
 * @param host null, or one without a registrable name, if the holder wants nothing
 */
export async function declareInterest(
  tx: Tx,
  hub: Hub,
  holder: Holder,
  host: string | null,
  everySeconds: number,
): Promise<void> {
  const wanted = host === null ? null : registrableName(host)
  forgetDemand(hub)
  const own = and(eq(registryInterests.holderType, holder.type), eq(registryInterests.holderId, holder.id))
  if (wanted === null) {
    await tx.delete(registryInterests).where(own)
    return
  }
  const { name, tld } = wanted
  await want(tx, hub, tld, { holderType: holder.type, holderId: holder.id, name, everySeconds })
  await ensureCanary(tx, hub, tld)
}

/** Declares what many new holders want at once. The names must be registrable, and differ. */
export async function declareInterests(tx: Tx, hub: Hub, type: Holder['type'], wanted: readonly NewInterest[]): Promise<void> {
  forgetDemand(hub)
  const now = hub.clock.now()
  // In order, to avoid deadlocks.
  const sorted = wanted.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await insertRows(
    tx,
    registryInterests,
    sorted.map(({ id, name, everySeconds }) => ({ holderType: type, holderId: id, name, everySeconds })),
  )
  await insertRows(
    tx,
    registryFacts,
    sorted.map(({ name, tld }) => unreadFacts(name, tld, now)),
    lockingKnown,
  )
  for (const tld of new Set(sorted.map(one => one.tld).toSorted())) await ensureCanary(tx, hub, tld)
}

/** Locks the row, so that it isn’t deleted because nobody wanted it a moment ago. */
const lockingKnown: OnConflict = {
  name: 'lock',
  apply: insert => insert.onConflictDoUpdate({ target: registryFacts.name, set: { tld: sql`excluded.tld` } }),
}

const unreadFacts = (name: string, tld: string, now: number): typeof registryFacts.$inferInsert => ({
  ...{ name, tld, state: 'unknown', readAt: null, facts: null, endsAt: null, endsChangedAt: now },
  ...{ evidence: [], failures: 0, nextLookAt: now },
})

/** Makes sure that servers are asked for the canary of a top-level domain, which the operator may have changed. */
export const ensureCanary = (tx: Tx, hub: Hub, tld: string): Promise<void> =>
  want(tx, hub, tld, { holderType: 'canary', holderId: tld, name: canaryOf(hub.config, tld), everySeconds: canarySeconds })

async function want(tx: Tx, hub: Hub, tld: string, interest: typeof registryInterests.$inferInsert): Promise<void> {
  const { name, everySeconds } = interest
  const { holderType, holderId } = registryInterests
  await tx
    .insert(registryInterests)
    .values(interest)
    .onConflictDoUpdate({ target: [holderType, holderId], set: { name, everySeconds } })
  const now = hub.clock.now()
  await insertRows(tx, registryFacts, [unreadFacts(name, tld, now)], lockingKnown)
}

/** How often a name has to be looked up at least, in seconds; null if nobody wants to know about it. */
export async function shortestInterval(read: Reader, name: string): Promise<number | null> {
  const [row] = await read
    .select({ seconds: min(registryInterests.everySeconds) })
    .from(registryInterests)
    .where(eq(registryInterests.name, name))
  return row?.seconds ?? null
}

/** Looks up a name that someone wants to know about at this time at the latest (ms UTC). */
export async function lookBy(tx: Tx, name: string, at: number): Promise<void> {
  const isLater = and(eq(registryFacts.name, name), gt(registryFacts.nextLookAt, at))
  await tx.update(registryFacts).set({ nextLookAt: at }).where(isLater)
}

/** Whether a domain of a workspace has this name. */
export async function isWantedByDomains(read: Reader, name: string): Promise<boolean> {
  const [one] = await read
    .select({ id: registryInterests.holderId })
    .from(registryInterests)
    .where(and(eq(registryInterests.name, name), eq(registryInterests.holderType, 'domain')))
    .limit(1)
  return one !== undefined
}

/**
 * When the registrations that holders want to know about end (ms UTC), by the id of the holder. Null if that is not known. Holders that want
 * nothing are missing.
 */
export async function endsOfHolders(
  read: Reader,
  type: Holder['type'],
  ids: readonly string[],
): Promise<Map<string, number | null>> {
  if (ids.length === 0) return new Map()
  const rows = await read
    .select({ id: registryInterests.holderId, endsAt: registryFacts.endsAt })
    .from(registryInterests)
    .innerJoin(registryFacts, eq(registryFacts.name, registryInterests.name))
    .where(and(eq(registryInterests.holderType, type), inArray(registryInterests.holderId, [...ids])))
  return new Map(rows.map(row => [row.id, row.endsAt]))
}

/** The same for those whose value has changed since a time (ms UTC). */
export async function changedEndsOfHolders(
  read: Reader,
  type: Holder['type'],
  since: number,
): Promise<Map<string, number | null>> {
  // Prepared, because monitoring polls it.
  const changed = prepared(read, 'changed-domain-ends', handle =>
    handle
      .select({ id: registryInterests.holderId, endsAt: registryFacts.endsAt })
      .from(registryFacts)
      .innerJoin(registryInterests, eq(registryInterests.name, registryFacts.name))
      .where(
        and(
          gte(registryFacts.endsChangedAt, sql.placeholder('since')),
          eq(registryInterests.holderType, sql.placeholder('type')),
        ),
      ),
  )
  const rows = await changed.execute({ since, type })
  return new Map(rows.map(row => [row.id, row.endsAt]))
}

const rowsPerPrune = 500
const keptServerMs = 30 * 86_400_000

/**
 * Deletes what nobody wants to know about anymore: the facts, and canaries of top-level domains without other names. Also deletes the state of
 * servers that were not queried for a month.
 */
export async function pruneRegistry(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    const canaries = await tx
      .select({ tld: registryInterests.holderId, name: registryInterests.name })
      .from(registryInterests)
      .where(eq(registryInterests.holderType, 'canary'))
    for (const { tld, name } of canaries) {
      const [other] = await tx
        .select({ name: registryFacts.name })
        .from(registryFacts)
        .innerJoin(registryInterests, eq(registryInterests.name, registryFacts.name))
        .where(and(eq(registryFacts.tld, tld), ne(registryInterests.holderType, 'canary')))
        .limit(1)
      if (other) {
        if (name !== canaryOf(hub.config, tld)) await ensureCanary(tx, hub, tld)
      } else
        await tx
          .delete(registryInterests)
          .where(and(eq(registryInterests.holderType, 'canary'), eq(registryInterests.holderId, tld)))
    }
    await tx.delete(registryHosts).where(lt(registryHosts.paceAt, hub.clock.now() - keptServerMs))
    return { result: undefined }
  })
  for (;;) {
    const deleted = await record(hub, async tx => {
      const interest = tx
        .select({ name: registryInterests.name })
        .from(registryInterests)
        .where(eq(registryInterests.name, registryFacts.name))
      // Locked first: the second statement sees who wants a name by now.
      const unwanted = await forUpdate(
        tx.select({ name: registryFacts.name }).from(registryFacts).where(notExists(interest)).limit(rowsPerPrune),
      )
      const names = unwanted.map(row => row.name)
      if (names.length > 0) await tx.delete(registryFacts).where(and(inArray(registryFacts.name, names), notExists(interest)))
      return { result: names.length }
    })
    if (deleted < rowsPerPrune) return
  }
}
