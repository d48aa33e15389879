import { and, asc, eq, gt, lte } from 'drizzle-orm'
import { record } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobDraft } from '../../core/jobs/draft'
import type { JobKind } from '../../core/jobs/job'
import { sequentialLanes } from '../../core/jobs/lanes'
import { bootstrapOf } from './bootstrap-refresh'
import { ask, askRdap } from './clients'
import { factsJobFor } from './facts-job'
import { ensureCanary, isWantedByDomains, lookBy, shortestInterval } from './interests'
import { countQueries, dayMs, hostAllowance, noteOutcome, takeTurn } from './pace'
import { endOf, unknown, type Reading } from './reading'
import { canaryOf, rdapServer, sourcesOf, type RegistrySource } from './sources'
import { registryFacts, registryHosts, type Evidence } from './tables'

type FactsRow = typeof registryFacts.$inferSelect

const kind = 'registry.look'
// A canary is asked once a day, and may be late.
const canaryMs = 1.25 * dayMs
/** A name is only taken for deleted if its server has just confirmed its canary. */
const freshCanaryMs = 15 * 60_000
const confirmMs = 5 * 60_000
const firstRetryMs = 5 * 60_000
const maxRetryMs = 6 * 3_600_000
/** How long a date that was published before and is missing now is taken for a mistake of the server. */
const missingEndMs = 3 * dayMs
/** A name whose job is lost is looked up again after this time. */
const provisionalMs = 3_600_000
const namesPerBatch = 500
const maxSources = 2

/** Queries the registry of a name, at the pace of its server, and stores what it says. */
export const lookJob: JobKind<{ name: string; server: string }> = {
  kind,
  concurrency: 32,
  lanes: {
    ...sequentialLanes,
    maxPerLane: 4,
    rateLimit: { allowance: hostAllowance, exempts: () => false },
  },
  leaseMs: 120_000,
  retryAfter: attempts => (attempts < 3 ? attempts * 60_000 : null),
  async prepare(tx, hub, jobs) {
    const counts = Map.groupBy(jobs, job => job.payload.server)
    for (const [server, own] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      await countQueries(tx, hub, server, own.length)
    return new Map()
  },
  async run(hub, { payload: { name, server } }) {
    const { bootstrap } = await bootstrapOf(hub)
    const source = sourcesOf(hub.config, bootstrap, name).find(one => one.server === server)
    // Another server became responsible.
    if (!source) return tx => lookAgain(tx, hub, name)
    const reading = await withRegistrar(hub, await ask(hub, source, name), name)
    return tx => storeReading(tx, hub, name, source, reading)
  },
}

/**
 * Adds when a registration ends according to its registrar, while that differs from the registry: in the auto renew period (see endOf).
 * The server of the registrar has a pace of its own; if it can’t be asked soon, the date is missing.
 */
async function withRegistrar(hub: Hub, reading: Reading, name: string): Promise<Reading> {
  if (reading.state !== 'found' || reading.related === null || !reading.facts.statuses.includes('auto renew period'))
    return reading
  const { related, facts } = reading
  const server = rdapServer(related)
  if (!(await takeTurn(hub, server))) return reading
  const own = await askRdap(hub, related, name)
  await record(hub, async tx => {
    return { result: undefined, notices: await noteOutcome(tx, hub, server, own) }
  })
  if (own.state !== 'found') return reading
  return { ...reading, facts: { ...facts, registrar_expires_at: own.facts.registrar_expires_at } }
}

async function lookAgain(tx: Tx, hub: Hub, name: string): Promise<RecordResult<undefined>> {
  await lookBy(tx, name, hub.clock.now())
  return { result: undefined }
}

/** Stores the result of a query. One that doesn’t count changes neither state nor facts. */
async function storeReading(
  tx: Tx,
  hub: Hub,
  name: string,
  source: RegistrySource,
  asked: Reading,
): Promise<RecordResult<undefined>> {
  const [row] = await forUpdate(tx.select().from(registryFacts).where(eq(registryFacts.name, name)))
  const notices = await noteOutcome(tx, hub, source.server, asked)
  const everySeconds = row ? await shortestInterval(tx, name) : null
  if (!row || everySeconds === null) return { result: undefined, notices }
  const now = hub.clock.now()
  const complete = row.name === canaryOf(hub.config, row.tld) ? asked : withKnownEnd(row, asked, now)
  const reading = await confirmed(tx, hub, row, source, complete)
  const evidence: Evidence = {
    source: source.kind,
    server: source.server,
    result: reading.state,
    at: now,
    detail: reading.state === 'found' ? null : reading.detail,
  }
  const failures = reading.state === 'unknown' ? row.failures + 1 : 0
  const everyMs = everySeconds * 1000
  const isUnconfirmed = reading.state === 'unknown' && complete.state !== 'unknown'
  const retryMs = isUnconfirmed ? confirmMs : Math.min(firstRetryMs * 2 ** (failures - 1), maxRetryMs)
  await tx
    .update(registryFacts)
    .set({
      evidence: [evidence, ...row.evidence.filter(one => one.server !== source.server)].slice(0, maxSources),
      failures,
      nextLookAt: now + (reading.state === 'unknown' ? Math.min(everyMs, retryMs) : everyMs),
      ...columnsOf(row, reading, now),
    })
    .where(eq(registryFacts.name, name))
  return { result: undefined, notices, jobs: await followers(tx, name) }
}

const followers = async (read: Reader, name: string): Promise<JobDraft[]> =>
  (await isWantedByDomains(read, name)) ? [factsJobFor(name)] : []

function columnsOf(row: FactsRow, reading: Reading, now: number): Partial<FactsRow> {
  if (reading.state === 'unknown') return {}
  const facts = reading.state === 'absent' ? null : { ...reading.facts }
  // The registrar can’t always be asked.
  if (facts?.statuses.includes('auto renew period')) facts.registrar_expires_at ??= row.facts?.registrar_expires_at ?? null
  const endsAt = facts && endOf(facts)
  return {
    state: reading.state,
    readAt: now,
    facts,
    ...(endsAt !== row.endsAt && { endsAt, endsChangedAt: now }),
  }
}

/**
 * An answer without the end of a registration that the registry has published before is probably incomplete, and counts only after some
 * days. In redemption and pending delete, some registries stop publishing the end: then the last known one stays.
 */
function withKnownEnd({ facts: known, readAt }: FactsRow, reading: Reading, now: number): Reading {
  if (reading.state !== 'found' || known === null || endOf(known) === null || endOf(reading.facts) !== null) return reading
  const { expires_at, registrar_expires_at } = known
  if (reading.facts.statuses.some(one => one === 'redemption period' || one === 'pending delete'))
    return { ...reading, facts: { ...reading.facts, expires_at, registrar_expires_at } }
  return now - (readAt ?? 0) < missingEndMs
    ? unknown('The response lacks the end of the registration, which the registry has published before.')
    : reading
}

/**
 * The reading as far as it counts. A server that also doesn’t know its canary, or was not asked for it recently, proves no absence, and
 * nothing at all if it isn’t in the list of IANA.
 */
async function confirmed(tx: Tx, hub: Hub, row: FactsRow, source: RegistrySource, reading: Reading): Promise<Reading> {
  if (reading.state === 'unknown' || (reading.state === 'found' && source.origin !== 'extra')) return reading
  const canary = canaryOf(hub.config, row.tld)
  if (row.name === canary)
    return reading.state === 'found' ? reading : unknown(`The server doesn’t know ${canary}, which is certainly registered.`)
  await ensureCanary(tx, hub, row.tld)
  const [known] = await tx.select().from(registryFacts).where(eq(registryFacts.name, canary))
  const now = hub.clock.now()
  const isNewAbsence = reading.state === 'absent' && row.state !== 'absent'
  const okSince = now - (isNewAbsence ? freshCanaryMs : canaryMs)
  if (known && canaryOkAt(known.evidence, source.server) >= okSince) return reading
  // At most once in a while: the canary may never be found.
  if (known && (known.evidence[0]?.at ?? 0) <= now - confirmMs)
    await tx.update(registryFacts).set({ nextLookAt: now }).where(eq(registryFacts.name, canary))
  return unknown(`The answer doesn’t count until the server confirms that ${canary} is registered.`)
}

/** When a server last knew a canary (ms UTC); 0 if it didn’t know it the last time it was asked. */
export const canaryOkAt = (evidence: readonly Evidence[], server: string): number => {
  const last = evidence.find(one => one.server === server)
  return last?.result === 'found' ? last.at : 0
}

/** Queues queries for all names that are due. Several hubs can run it at once. */
export async function readDueRegistrations(hub: Hub): Promise<void> {
  for (;;) {
    const now = hub.clock.now()
    const { name, nextLookAt } = registryFacts
    const due = await hub.read
      .select({ name, nextLookAt })
      .from(registryFacts)
      .where(lte(nextLookAt, now))
      .orderBy(asc(nextLookAt))
      .limit(namesPerBatch)
    if (due.length === 0) return
    const { bootstrap } = await bootstrapOf(hub)
    const sources = new Map(due.map(one => [one.name, sourcesOf(hub.config, bootstrap, one.name)]))
    const blocked = await blockedServers(hub.read, now)
    await record(hub, async tx => {
      const jobs: JobDraft[] = []
      for (const one of due) {
        const [claimed] = await tx
          .update(registryFacts)
          .set({ nextLookAt: now + provisionalMs })
          .where(and(eq(name, one.name), eq(nextLookAt, one.nextLookAt)))
          .returning({ name })
        if (!claimed) continue
        const own = sources.get(one.name)!
        const { server } = own.find(source => !blocked.has(source.server)) ?? own[0] ?? {}
        if (server === undefined) {
          await noteUnsupported(tx, hub, one.name)
          jobs.push(...(await followers(tx, one.name)))
        } else jobs.push({ kind, payload: { name: one.name, server }, lane: server, uniqueKey: one.name })
      }
      return { result: undefined, jobs }
    })
    if (due.length < namesPerBatch) return
  }
}

async function noteUnsupported(tx: Tx, hub: Hub, name: string): Promise<void> {
  // A later version, or a newer list of servers, may know one.
  await tx
    .update(registryFacts)
    .set({ nextLookAt: hub.clock.now() + dayMs })
    .where(eq(registryFacts.name, name))
}

async function blockedServers(read: Reader, now: number): Promise<Set<string>> {
  const rows = await read.select({ server: registryHosts.server }).from(registryHosts).where(gt(registryHosts.blockedUntil, now))
  return new Set(rows.map(row => row.server))
}
