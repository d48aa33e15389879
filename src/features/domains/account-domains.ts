import { and, asc, eq, gt, inArray, lte } from 'drizzle-orm'
import { countOf, lockLimit } from '../../access/plans'
import { limitsOf } from '../../access/workspaces'
import { jobContext, systemActor } from '../../core/change'
import type { AuditDraft, EventDraft } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { inputColumns } from '../../core/members'
import { insertRow, targetOf } from '../../core/rows'
import { declareInterest } from '../registry/interests'
import { knownFacts } from '../registry/known'
import { newDomainColumns } from './domains'
import { noFacts, type DomainFacts } from './facts'
import { domainNameOf } from './names'
import { settleDomains } from './settle'
import { domainMembers } from './shapes'
import { domainReadings, domains } from './tables'
import { auditedView, domainRows, type DomainRow } from './view'

// What accounts at registrars say about domains.

/** A name must be missing this long (ms), before its registrar at the registry counts. */
const leftMs = 6 * 3_600_000

interface OwnAccount {
  id: string
  workspaceId: string
}

/** What an account says about a domain. Null members are not reported, and keep their last value. */
export type AccountFacts = { [K in keyof DomainFacts]: DomainFacts[K] | null }

/** Names of the domains that are tracked with an account, in alphabetical order. @param after the last name of the previous page */
export async function trackedNames(read: Reader, accountId: string, after: string | null, count: number): Promise<string[]> {
  const rows = await read
    .select({ name: domains.name })
    .from(domains)
    .where(and(eq(domains.registrarAccountId, accountId), gt(domains.name, after ?? '')))
    .orderBy(asc(domains.name))
    .limit(count)
  return rows.map(row => row.name)
}

/**
 * Applies what an account says about domains, as far as they are tracked, and no other account has them.
 * @param held facts by name
 * @param at when the account was read (ms UTC)
 * @returns the names that are not tracked
 */
export async function followAccount(
  tx: Tx,
  hub: Hub,
  account: OwnAccount,
  held: ReadonlyMap<string, AccountFacts>,
  at: number,
  isSupported: (name: string) => boolean,
): Promise<{ untracked: string[]; events: EventDraft[] }> {
  const rows = await lockedRows(tx, account.workspaceId, [...held.keys()])
  const readings = await readingsOf(tx, rows)
  const own = rows.filter(
    row => row.registrarAccountId === null || row.registrarAccountId === account.id || readings.get(row.id)?.state !== 'found',
  )
  for (const row of own) {
    const isSame = row.registrarAccountId === account.id
    const before = isSame ? readings.get(row.id) : undefined
    const facts = merged(before?.facts ?? noFacts, held.get(row.name)!)
    const expiresSince = before?.facts?.expires_at === facts.expires_at ? (before.expiresSince ?? at) : at
    await storeReading(tx, row.id, { at, state: 'found', facts, expiresSince, detail: null })
    if (!isSame)
      await tx.update(domains).set({ management: 'registrar', registrarAccountId: account.id }).where(eq(domains.id, row.id))
  }
  const taken = own.map(row => ({ ...row, management: 'registrar' as const, registrarAccountId: account.id }))
  const { events } = await settleDomains(tx, hub, taken, isSupported)
  const tracked = new Set(rows.map(row => row.name))
  return { untracked: [...held.keys()].filter(name => !tracked.has(name)), events }
}

/** Tracks domains that an account has, as far as the plan allows. Returns the names that were added. @param actor the job */
export async function trackHeld(
  tx: Tx,
  hub: Hub,
  { workspaceId }: OwnAccount,
  names: readonly string[],
  actor: string,
): Promise<{ added: string[]; left: string[]; audits: AuditDraft[] }> {
  const valid = names.flatMap(name => {
    const found = domainNameOf(name)
    return 'code' in found ? [] : [found]
  })
  await lockLimit(tx, 'domains', workspaceId)
  const max = (await limitsOf(tx, workspaceId)).domains
  const room = max === null ? valid.length : Math.max(0, max - (await countOf(tx, 'domain', workspaceId)))
  const audits: AuditDraft[] = []
  for (const name of valid.slice(0, room)) {
    const given = { ...inputColumns(domainMembers, { name: name.name }), ...name, givenExpiresAt: null }
    const row = await insertRow(tx, { hub, workspaceId }, domainRows, newDomainColumns(given, hub.clock.now()))
    await declareInterest(tx, hub, { type: 'domain', id: row.id }, row.name, row.lookEverySeconds)
    audits.push({
      ...{ workspaceId, action: 'domains.domain.create', actor: systemActor(actor), context: jobContext },
      ...{ targets: [targetOf(domainRows, row)], before: null, after: auditedView(row) },
      reason: 'It is in a registrar account.',
    })
  }
  const namesOf = (some: typeof valid) => some.map(one => one.name)
  return { added: namesOf(valid.slice(0, room)), left: namesOf(valid.slice(room)), audits }
}

/**
 * Notes that the complete list of an account lacks domains. A domain was transferred to another registrar if it is still missing six hours
 * later, and the registry, asked in between, names another registrar.
 * @param ianaIds numbers of the registrars of the account; nothing was transferred if they are not known
 */
export async function missFromAccount(
  tx: Tx,
  hub: Hub,
  account: OwnAccount,
  names: readonly string[],
  ianaIds: readonly number[],
  isSupported: (name: string) => boolean,
): Promise<{ left: string[]; events: EventDraft[] }> {
  const now = hub.clock.now()
  const locked = await lockedRows(tx, account.workspaceId, names)
  const rows = locked.filter(row => row.registrarAccountId === account.id)
  const readings = await readingsOf(tx, rows)
  const registry = await knownFacts(tx, names)
  const gone: DomainRow[] = []
  for (const row of rows) {
    const reading = readings.get(row.id)
    if (reading?.state !== 'absent') {
      const detail = 'The account doesn’t list this domain.'
      await storeReading(tx, row.id, { at: now, state: 'absent', facts: null, expiresSince: null, detail, ...kept(reading) })
      continue
    }
    // One that the account never had was assigned by mistake.
    if (reading.facts === null) continue
    const known = registry.get(row.name)
    const other = known?.state === 'found' ? (known.facts?.registrar?.iana_id ?? null) : null
    const isProven = other !== null && ianaIds.length > 0 && !ianaIds.includes(other) && (known!.readAt ?? 0) > reading.at
    if (!isProven || now - reading.at < leftMs) continue
    await storeReading(tx, row.id, { ...reading, facts: { ...reading.facts, status: 'transferred_out' } })
    gone.push(row)
  }
  const { events } = await settleDomains(tx, hub, gone, isSupported)
  await release(
    tx,
    gone.map(row => row.id),
    now,
  )
  return { left: gone.map(row => row.name), events }
}

/** Makes the domains of an account manual, such as before it is deleted. What only the account knew is forgotten. */
export async function releaseAccount(tx: Tx, accountId: string, now: number): Promise<void> {
  const own = tx.select({ id: domains.id }).from(domains).where(eq(domains.registrarAccountId, accountId))
  await tx.delete(domainReadings).where(inArray(domainReadings.domainId, own))
  await tx
    .update(domains)
    .set({ ...manual, dueAt: now })
    .where(eq(domains.registrarAccountId, accountId))
}

/** Prices of the automatic renewals in an account until a time (ms UTC), from the nearest on; null if one is not known. */
export async function renewalsUntil(read: Reader, accountId: string, until: number): Promise<DomainFacts['renewal_price'][]> {
  const rows = await read
    .select({ facts: domains.facts })
    .from(domains)
    .where(and(eq(domains.registrarAccountId, accountId), eq(domains.autoRenew, true), lte(domains.expiresOrder, until)))
    .orderBy(asc(domains.expiresOrder))
    .limit(maxRenewals)
  return rows.map(row => row.facts.renewal_price)
}

const maxRenewals = 1000

/** The columns of a domain that no account has. */
const manual = { management: 'manual', registrarAccountId: null, autoRenew: null } as const

async function release(tx: Tx, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return
  await tx.delete(domainReadings).where(inArray(domainReadings.domainId, [...ids]))
  await tx
    .update(domains)
    .set({ ...manual, dueAt: now })
    .where(inArray(domains.id, [...ids]))
}

type Reading = Omit<typeof domainReadings.$inferSelect, 'domainId' | 'source'>

const kept = (reading: Reading | undefined) => reading && { facts: reading.facts, expiresSince: reading.expiresSince }

/** Locks the domains with these names in id order, to avoid deadlocks. */
const lockedRows = (tx: Tx, workspaceId: string, names: readonly string[]): Promise<DomainRow[]> =>
  forUpdate(
    tx
      .select()
      .from(domains)
      .where(and(eq(domains.workspaceId, workspaceId), inArray(domains.name, [...names])))
      .orderBy(asc(domains.id)),
  )

async function readingsOf(tx: Tx, rows: readonly DomainRow[]): Promise<Map<string, Reading>> {
  const ids = rows.map(row => row.id)
  const found = await tx
    .select()
    .from(domainReadings)
    .where(and(inArray(domainReadings.domainId, ids), eq(domainReadings.source, 'registrar')))
  return new Map(found.map(one => [one.domainId, one]))
}

async function storeReading(tx: Tx, domainId: string, { at, state, facts, expiresSince, detail }: Reading): Promise<void> {
  const columns = { at, state, facts, expiresSince, detail }
  await tx
    .insert(domainReadings)
    .values({ domainId, source: 'registrar', ...columns })
    .onConflictDoUpdate({ target: [domainReadings.domainId, domainReadings.source], set: columns })
}

const merged = (before: DomainFacts, now: AccountFacts): DomainFacts => ({
  ...before,
  ...(Object.fromEntries(Object.entries(now).filter(([, value]) => value !== null)) as Partial<DomainFacts>),
  // Without a word of its own now, the registrar no longer says what it did.
  status: now.status,
})
