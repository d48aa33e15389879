import { effectiveEnd } from './effective-end'
import { dueNotice, nextDue } from './expiring'
import { noFacts, type DomainFacts } from './facts'
import { isIrregular, nextStatus } from './moves'
import type { DomainStatus } from './statuses'
import type { domainHistory, domains } from './tables'

const dayMs = 86_400_000
const daySeconds = 86_400
/** How often a name that is absent is looked up, until that is proven. */
const proofSeconds = 60
/** A name is deleted if its registry doesn’t know it twice with this time between (ms). */
const proofMs = 20_000
const staleAfter = 3
/** Sorts unknown ends last. The largest time of JavaScript. */
export const unknownEnd = 8_640_000_000_000_000

type Row = Omit<typeof domains.$inferSelect, 'id' | 'workspaceId' | 'version' | 'updatedAt'>

/** What the registry says about a name, see the registry feature. Times in ms UTC. */
export interface RegistryKnown {
  state: 'found' | 'absent' | 'unknown'
  source: 'rdap' | 'whois'
  /** The last that counts. */
  facts: DomainFacts | null
  /** When that was; null before the first. */
  readAt: number | null
  nextLookAt: number
  /** Lookups in a row that failed. */
  failures: number
  /** Why the last lookup failed; null if it succeeded. */
  error: string | null
  /** Whether a server is known for the top-level domain. */
  isSupported: boolean
}

/** What the account at the registrar says. */
export interface AccountKnown {
  facts: DomainFacts
  at: number
  /** Since when its date has been the same (ms UTC). */
  expiresSince: number
}

interface Derived {
  columns: Partial<Row>
  move: Pick<typeof domainHistory.$inferInsert, 'from' | 'to' | 'source' | 'irregular'> | null
  /** The day of the `domain.expiring` that is due; null if none is. */
  noticeDay: number | null
}

/**
 * What follows for a domain from what its sources say. Only what a source really said changes anything: without a registry answer that
 * counts, status and date stay the same until the date is past.
 */
export function derive(row: Row, registry: RegistryKnown | null, account: AccountKnown | null, now: number): Derived {
  const found = registry?.state === 'found' ? registry.facts : null
  const end = effectiveEnd(
    {
      account: account && { expires_at: account.facts.expires_at, since: account.expiresSince },
      registry: found && { ...found, source: registry!.source },
      given: row.givenExpiresAt,
      known: row.expiresAt,
    },
    now,
  )
  // The last known date stays while nothing replaces it.
  const isKept = end.at === null && row.expiresAt !== null && row.expirySource !== 'given' && found === null
  const expiresAt = isKept ? row.expiresAt : end.at
  const absentSince = registry?.state === 'absent' ? (row.absentSince ?? registry.readAt) : null
  const isProven = absentSince !== null && registry!.readAt! - absentSince >= proofMs
  const facts = mergedFacts(found ?? (isProven ? null : row.facts), account?.facts ?? null)
  // Registries don’t know whether the registrar renews it.
  if (account === null) facts.auto_renew = row.autoRenew
  const evidence =
    registry?.state === 'absent'
      ? { state: 'absent' as const, isProven }
      : found && { state: 'found' as const, statuses: found.statuses }
  const status = nextStatus(row.status, { registrar: account?.facts.status ?? null, registry: evidence, end: expiresAt }, now)
  const columns = {
    facts,
    autoRenew: facts.auto_renew,
    expiresAt,
    expiresOrder: expiresAt ?? unknownEnd,
    ...(!isKept && { expirySource: end.source, expiryConfidence: end.confidence, expiryHint: end.hint }),
    registrarExpiresAt: account?.facts.expires_at ?? found?.registrar_expires_at ?? (found ? null : row.registrarExpiresAt),
    registryExpiresAt: found ? found.expires_at : row.registryExpiresAt,
    absentSince,
    status,
    ...(status !== row.status && { statusSince: now }),
    ...syncColumns(registry, account),
    lookEverySeconds: absentSince !== null && !isProven ? proofSeconds : lookEvery(expiresAt, status, now),
  }
  const next = { ...row, ...columns }
  const sourceOf = () => {
    if (status === 'expired' && account?.facts.status !== 'expired' && expiresAt === row.expiresAt) return 'clock'
    return evidence === null || status === account?.facts.status ? 'registrar' : registry!.source
  }
  const noticeDay = dueNotice(next, now)
  return {
    columns: {
      ...columns,
      ...(noticeDay !== null && { notifiedEnd: expiresAt, notifiedDay: noticeDay }),
      dueAt: nextDue(next, now),
    },
    move:
      status === row.status
        ? null
        : { from: row.status, to: status, source: sourceOf(), irregular: isIrregular(row.status, status) },
    noticeDay,
  }
}

/** The registry knows where a domain is delegated, the registrar everything else. */
function mergedFacts(registry: DomainFacts | null, account: DomainFacts | null): DomainFacts {
  const [a, r] = [account ?? noFacts, registry ?? noFacts]
  const statuses = r.statuses.length > 0 ? r.statuses : a.statuses
  return {
    status: null,
    expires_at: null,
    registrar_expires_at: null,
    statuses,
    registered_at: a.registered_at ?? r.registered_at,
    registrar: r.registrar ?? a.registrar,
    nameservers: r.nameservers.length > 0 ? r.nameservers : a.nameservers,
    auto_renew: account === null ? r.auto_renew : a.auto_renew,
    locked: a.locked ?? (statuses.length > 0 ? statuses.some(one => one.endsWith('transfer prohibited')) : null),
    privacy: a.privacy,
    ds: r.ds.length > 0 ? r.ds : a.ds,
    glue: a.glue,
    renewal_price: a.renewal_price,
    capabilities: a.capabilities,
  }
}

function syncColumns(registry: RegistryKnown | null, account: AccountKnown | null): Partial<Row> {
  if (registry === null) return account === null ? {} : { syncState: 'fresh', checkedAt: account.at, syncError: null }
  const { readAt, nextLookAt, failures, error, isSupported } = registry
  const checkedAt = Math.max(readAt ?? 0, account?.at ?? 0) || null
  if (account !== null) return { syncState: 'fresh', checkedAt, nextCheckAt: nextLookAt, syncError: error }
  if (!isSupported)
    return {
      syncState: 'error',
      checkedAt,
      nextCheckAt: null,
      syncError: 'No server is known for this top-level domain. Enter the date, or connect the account at the registrar.',
    }
  return {
    syncState: failures >= staleAfter ? 'stale' : readAt === null ? 'pending' : 'fresh',
    checkedAt,
    nextCheckAt: nextLookAt,
    syncError: error,
  }
}

/** How often the registry is asked, in seconds. */
export function lookEvery(expiresAt: number | null, status: DomainStatus, now: number): number {
  if (status === 'expired' || status === 'redemption' || status === 'pending_delete') return daySeconds / 4
  return expiresAt !== null && expiresAt - now < 30 * dayMs ? daySeconds / 2 : daySeconds
}
