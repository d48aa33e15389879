import { Problem } from '../../../core/problem'
import type { SyncOutcome } from './sync-target'

/** Why a run did not do what it was to do, as a problem; null when it did. */
export function failureOf(outcome: SyncOutcome): Problem | null {
  if (outcome.did === 'failed') return new Problem('provider_failed', outcome.detail, { members: { failure: outcome.code } })
  if (outcome.did !== 'read') return null
  if (outcome.isStale)
    return new Problem(
      'plan_stale',
      'What is at the provider has changed since the plan was made. Make it anew and look at it again.',
    )
  if (outcome.blocked.length > 0)
    return new Problem('plan_blocked', outcome.blocked.map(one => one.detail).join(' '), {
      members: { reasons: outcome.blocked },
    })
  if (outcome.counts.failed > 0)
    return new Problem('provider_failed', `${outcome.counts.failed} steps were not carried out; the zone tells which.`, {
      members: { failure: 'refused' },
    })
  return null
}
