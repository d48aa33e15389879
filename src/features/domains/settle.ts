import { and, desc, eq, inArray } from 'drizzle-orm'
import { addChangeHint } from '../../core/change-hints'
import type { EventDraft } from '../../core/change-result'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { declareInterest, lookBy } from '../registry/interests'
import { countedOf, knownFacts, type FactsRow } from '../registry/known'
import { compareDelegation, type Expected } from './delegation'
import { expectedDelegations } from './delegations'
import { derive, type AccountKnown, type RegistryKnown } from './derive'
import { dateOf } from './effective-end'
import { noFacts } from './facts'
import { domainHistory, domainReadings, domains } from './tables'
import type { DomainRow } from './view'

/** Moves that are kept of a domain. */
const keptMoves = 500

/**
 * Works out status, date, and events of domains from what their sources say now, and saves what changed. Domains have to be locked.
 * @param isSupported see `supportedNames`
 */
export async function settleDomains(
  tx: Tx,
  hub: Hub,
  rows: readonly DomainRow[],
  isSupported: (name: string) => boolean,
): Promise<{ rows: DomainRow[]; events: EventDraft[] }> {
  if (rows.length === 0) return { rows: [], events: [] }
  const facts = await knownFacts(tx, [...new Set(rows.map(row => row.name))])
  const accounts = await accountReadings(
    tx,
    rows.filter(row => row.management === 'registrar').map(row => row.id),
  )
  const expected = await expectedDelegations(tx, rows)
  const settled: DomainRow[] = []
  const events: EventDraft[] = []
  for (const row of rows) {
    const known = facts.get(row.name)
    const registry = known ? registryKnown(known, isSupported(row.name)) : null
    const done = await settle(tx, hub, row, registry, accounts.get(row.id) ?? null, expected.get(row.id)!)
    settled.push(done.row)
    events.push(...done.events)
  }
  return { rows: settled, events }
}

async function settle(
  tx: Tx,
  hub: Hub,
  row: DomainRow,
  registry: RegistryKnown | null,
  account: AccountKnown | null,
  expected: Expected,
): Promise<{ row: DomainRow; events: EventDraft[] }> {
  const now = hub.clock.now()
  const { columns, move, noticeDay } = derive(row, registry, account, now)
  const { id, workspaceId, name } = row
  const [saved] = await tx
    .update(domains)
    .set({ ...columns, ...compareDelegation(columns.facts!.nameservers, expected, now) })
    .where(eq(domains.id, id))
    .returning()
  const every = columns.lookEverySeconds!
  if (every !== row.lookEverySeconds) await declareInterest(tx, hub, { type: 'domain', id }, name, every)
  if (every < row.lookEverySeconds) await lookBy(tx, name, now + every * 1000)
  if (move) {
    await tx.insert(domainHistory).values({ id: newId('dmv'), domainId: id, at: now, ...move })
    await pruneMoves(tx, id)
  }
  addChangeHint(tx, { workspaceId, action: 'domains.domain.update', type: 'domain', id, parentId: null })
  const resource = { type: 'domain', id }
  const events: EventDraft[] = []
  if (move && move.from !== 'unknown' && move.to !== 'unknown')
    events.push({
      ...{ workspaceId, resource, kind: 'domain.status_changed' as const },
      data: { domain: name, status: move.to, previous_status: move.from, changed_at: new Date(now).toISOString() },
    })
  if (noticeDay !== null)
    events.push({
      ...{ workspaceId, resource, kind: 'domain.expiring' as const },
      data: { domain: name, expires_at: dateOf(columns.expiresAt!) },
    })
  return { row: saved!, events }
}

async function accountReadings(tx: Tx, ids: readonly string[]): Promise<Map<string, AccountKnown>> {
  if (ids.length === 0) return new Map()
  const rows = await tx
    .select()
    .from(domainReadings)
    .where(and(inArray(domainReadings.domainId, [...ids]), eq(domainReadings.source, 'registrar')))
  return new Map(
    rows.flatMap(row =>
      row.facts ? [[row.domainId, { facts: row.facts, at: row.at, expiresSince: row.expiresSince ?? row.at }] as const] : [],
    ),
  )
}

/** What the registry says, in the form of readings of domains. */
function registryKnown(row: FactsRow, isSupported: boolean): RegistryKnown {
  const { state, facts, evidence, readAt, nextLookAt, failures } = row
  const [last] = evidence
  const counted = countedOf(row) ?? last
  return {
    ...{ state, readAt, nextLookAt, failures, isSupported },
    source: counted?.source ?? 'rdap',
    facts: facts && { ...noFacts, ...facts },
    error: failures > 0 ? (last?.detail ?? null) : null,
  }
}

async function pruneMoves(tx: Tx, domainId: string): Promise<void> {
  const [oldest] = await tx
    .select({ id: domainHistory.id })
    .from(domainHistory)
    .where(eq(domainHistory.domainId, domainId))
    .orderBy(desc(domainHistory.id))
    .offset(keptMoves)
    .limit(1)
  if (oldest) await tx.delete(domainHistory).where(eq(domainHistory.id, oldest.id))
}
