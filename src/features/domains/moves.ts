import type { DomainStatus } from './statuses'

/** What is known about a registration. */
export interface Evidence {
  /** The word of the registrar account; null if it has none. */
  registrar: DomainStatus | null
  /** The last answer of the registry that counts, with its statuses in the words of RDAP; null before the first. */
  registry: { state: 'found'; statuses: readonly string[] } | { state: 'absent'; isProven: boolean } | null
  /** When the registration ends (ms UTC); null if it is not known. */
  end: number | null
}

/** What follows when, without anything unusual. */
const regular: Partial<Record<DomainStatus, readonly DomainStatus[]>> = {
  pending_registration: ['active', 'deleted'],
  pending_transfer: ['active', 'transferred_out'],
  active: ['suspended', 'expired', 'transferred_out'],
  suspended: ['active', 'expired', 'transferred_out'],
  expired: ['active', 'redemption', 'transferred_out'],
  redemption: ['active', 'pending_delete'],
  pending_delete: ['deleted'],
  deleted: ['pending_registration'],
  transferred_out: ['pending_transfer'],
}

/** Whether a change of the status is unusual, such as one from `active` to `pending_delete`. Changes from and to `unknown` are not. */
export const isIrregular = (from: DomainStatus, to: DomainStatus): boolean =>
  from !== 'unknown' && to !== 'unknown' && !(regular[from] ?? []).includes(to)

const holds = ['client hold', 'server hold']

/** The status that follows from what is known. Without evidence for another one, it stays the same. */
export function nextStatus(current: DomainStatus, evidence: Evidence, now: number): DomainStatus {
  const { registry, end } = evidence
  const isOver = end !== null && end <= now
  // Registrars call domains active until they are renewed or deleted.
  const registrar = evidence.registrar === 'active' && isOver ? null : evidence.registrar
  // An order decides when these end.
  if (current === 'pending_registration' || current === 'pending_transfer')
    return registrar ?? (registry?.state === 'found' && current === 'pending_registration' ? 'active' : current)
  if (registry?.state === 'absent') return registry.isProven ? 'deleted' : current
  if (registry?.state === 'found') {
    const { statuses } = registry
    // In the redemption period, both stand (RFC 3915 section 3.1).
    if (statuses.includes('redemption period') || statuses.includes('pending restore')) return 'redemption'
    if (statuses.includes('pending delete')) return 'pending_delete'
    if (registrar !== null) return registrar
    if (isOver) return 'expired'
    return statuses.some(one => holds.includes(one)) ? 'suspended' : current === 'transferred_out' ? current : 'active'
  }
  if (registrar !== null) return registrar
  const canExpire = current === 'active' || current === 'suspended' || current === 'unknown'
  return isOver && canExpire ? 'expired' : current
}
