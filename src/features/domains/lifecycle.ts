import { profileNameOf, type LifecycleProfile } from '../registry/profiles'
import { dateOf } from './effective-end'
import type { DomainView } from './shapes'
import type { DomainStatus } from './statuses'

const dayMs = 86_400_000

interface Registration {
  status: DomainStatus
  statusSince: number
  /** ms UTC; null if it is not known. */
  expiresAt: number | null
}

/** What happens after the end of a registration, as dates. They are estimates until the registry has begun a step. */
export function lifecycleDates(
  { status, statusSince, expiresAt }: Registration,
  profile: LifecycleProfile | null,
  tld: string,
): DomainView['lifecycle'] {
  if (profile === null || status === 'deleted' || status === 'transferred_out') return null
  const isKnown = status === 'redemption' || status === 'pending_delete'
  if (expiresAt === null && !isKnown) return null
  const { renewal_grace_days: grace, redemption_days: redemption, pending_delete_days: pendingDelete } = profile
  const graceEnd = expiresAt === null ? null : expiresAt + (grace ?? 0) * dayMs
  const restoreEnd = status === 'redemption' ? statusSince + (redemption ?? 0) * dayMs : plusDays(graceEnd, redemption)
  const purge = status === 'pending_delete' ? statusSince + (pendingDelete ?? 0) * dayMs : plusDays(restoreEnd, pendingDelete)
  const hasEnd = grace !== null || redemption !== null || pendingDelete !== null
  return {
    profile: profileNameOf(profile, tld),
    renew_until: grace === null || graceEnd === null ? null : dateOf(graceEnd),
    restore_until: redemption === null || restoreEnd === null || status === 'pending_delete' ? null : dateOf(restoreEnd),
    purge_at: hasEnd && purge !== null ? dateOf(purge) : null,
    confidence: status === 'pending_delete' ? 'high' : status === 'redemption' ? 'medium' : 'low',
  }
}

const plusDays = (at: number | null, days: number | null): number | null => (at === null ? null : at + (days ?? 0) * dayMs)
