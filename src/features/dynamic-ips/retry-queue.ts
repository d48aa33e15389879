import type { JobDraft } from '../../core/jobs/draft'

export const retryHostsKind = 'dynamic-ips.retry-hosts'
export const removeOldSourcesKind = 'dynamic-ips.remove-old-sources'

const firstRetryMs = 60_000
const maxRetryMs = 3_600_000

/**
 * Job that tries again to set the records of hosts with a problem: after a minute, then less often, up to an hour.
 * @param attempts so far; 0 for now
 */
export const retryHosts = ({ id }: { id: string }, now: number, attempts: number): JobDraft => ({
  kind: retryHostsKind,
  payload: { source_id: id },
  runAt: attempts === 0 ? now : now + Math.min(firstRetryMs * 2 ** (attempts - 1), maxRetryMs),
  uniqueKey: id,
  replaces: true,
})

/** Job that removes networks from a firewall rule once their grace period is over. @param at ms UTC */
export const removeOldSources = ({ id }: { id: string }, at: number): JobDraft => ({
  kind: removeOldSourcesKind,
  payload: { link_id: id },
  runAt: at,
  uniqueKey: id,
  replaces: true,
  earliest: true,
})
