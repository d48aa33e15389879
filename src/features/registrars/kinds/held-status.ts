import type { HeldStatus } from '../registrar'

/**
 * Status of a domain by the statuses that it has at the registry. In redemption, `pending delete` is set as well (RFC 3915 section 3.1).
 * @param statuses in the words of RDAP
 * @param expiresAt ms UTC
 * @param now ms UTC
 */
export function heldStatus(statuses: readonly string[], expiresAt: number | null, now: number): HeldStatus {
  const has = (...words: string[]) => words.some(word => statuses.includes(word))
  if (has('pending create')) return 'pending_registration'
  if (has('redemption period', 'pending restore')) return 'redemption'
  if (has('pending delete')) return 'pending_delete'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return has('client hold', 'server hold') ? 'suspended' : 'active'
}
