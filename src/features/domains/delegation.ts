import type { DomainView } from './shapes'

/** What a domain should be delegated to. */
export interface Expected {
  /** The zone it is compared with; null if there is none. */
  zoneId: string | null
  /** Null if there is nothing to compare it with. */
  nameservers: readonly string[] | null
}

/**
 * Compares the name servers at the registry with those that are expected.
 * @param nameservers in A-labels and lowercase, without a trailing dot; empty if they are not known
 * @param now ms UTC
 */
export function compareDelegation(
  nameservers: readonly string[],
  { zoneId, nameservers: expected }: Expected,
  now: number,
): { delegationState: DomainView['delegation']['state']; delegation: Omit<DomainView['delegation'], 'state'> } {
  const isKnown = nameservers.length > 0 && expected !== null
  const missing = isKnown ? expected.filter(one => !nameservers.includes(one)).toSorted() : []
  const extra = isKnown ? nameservers.filter(one => !expected.includes(one)).toSorted() : []
  const differs = missing.length + extra.length > 0
  return {
    delegationState: expected === null ? 'no_zone' : !isKnown ? 'unknown' : differs ? 'mismatch' : 'match',
    delegation: { zone_id: zoneId, missing, extra, lame: [], checked_at: new Date(now).toISOString() },
  }
}
