import { Problem } from '../../../core/problem'
import type { SyncOutcome } from './sync-target'

/** Converts the outcome of a sync to a problem; null if it succeeded. */
export function failureOf(outcome: SyncOutcome): Problem | null {
  if (outcome.status === 'failed') return new Problem('provider_failed', outcome.detail, { fields: { failure: outcome.code } })
  if (outcome.status !== 'read') return null
  if (outcome.isStale)
    return new Problem(
      'plan_stale',
      'The records at the provider have changed since the plan was created. Create and review a new one.',
    )
  if (outcome.blocked.length > 0)
    return new Problem('plan_blocked', outcome.blocked.map(one => one.detail).join(' '), {
      fields: { reasons: outcome.blocked },
    })
  if (outcome.counts.failed > 0)
    return new Problem('provider_failed', `${outcome.counts.failed} changes failed. The drift of the zone lists them.`, {
      fields: { failure: 'refused' },
    })
  return null
}
