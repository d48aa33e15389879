import type { JobDraft } from '../../core/jobs/draft'

export const retryHostsKind = 'dynamic-ips.retry-hosts'

const firstRetryMs = 60_000
const maxRetryMs = 3_600_000

/** Job that tries again to set the records of hosts with a problem, after a minute, then less often, up to an hour. */
export const retryHosts = ({ id }: { id: string }, now: number, attempts: number): JobDraft => ({
  kind: retryHostsKind,
  payload: { source_id: id },
  runAt: now + Math.min(firstRetryMs * 2 ** (attempts - 1), maxRetryMs),
  uniqueKey: id,
  replaces: true,
})
