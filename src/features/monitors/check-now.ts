import { refuseAskedTooOften } from '../../access/asked-too-often'
import type { Waiting } from '../../access/long-poll'
import type { CertificateFacts, CheckResult } from '../../checks/check'
import { instant } from '../../core/clock'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { conflict } from '../../core/problem'
import { latestOf } from './latest'
import { monitoringOf, runNow } from './live/watch'
import { monitorOf } from './monitors'
import type { MonitorCheckView } from './shapes'
import { isChecked } from './spec'
import { lastResult, monitorTarget } from './view'

const mostAMinute = 10
const longestWaitMs = 30_000

/**
 * Checks a monitor at once, beside its schedule, and answers with what was found; it counts like any other result.
 * @param waiting how long the caller would wait; null for the timeout of the monitor, 30 s at most
 * @returns no result where none came in time
 * @throws Problem 404, 409 for one that is not checked, 429
 */
export async function checkNow(ctx: Ctx, id: string, waiting: Waiting | null): Promise<MonitorCheckView> {
  const { hub } = ctx
  const row = await monitorOf(hub.read, ctx, id)
  if (!isChecked(row)) throw conflict(row.paused ? 'The monitor is paused.' : 'A group asks nobody: check its members.')
  refuseAskedTooOften(ctx, 'monitor-checks', id, mostAMinute)
  if (waiting) waiting.applied = true
  const waitMs = waiting ? waiting.seconds * 1000 : Math.min((row.timeoutSeconds + 1) * 1000, longestWaitMs)
  // One that was made a moment ago may not be known to the engine yet.
  await monitoringOf(hub)?.settled()
  const [result] = await runNow(hub, [id], waitMs)
  return await change(ctx, 'monitor.check', async () => ({
    result: { monitor_id: id, result: result ? told(result) : null },
    target: monitorTarget(row),
    reason: result ? `${result.status}${result.error ? `: ${result.error.message}` : ''}` : 'No result came in time.',
  }))
}

/**
 * All that the last check found, as far as this hub remembers it: nothing before the first, after a restart, and of what another hub checks.
 * @throws Problem 404
 */
export async function lastCheck(ctx: Ctx, id: string): Promise<MonitorCheckView> {
  const { hub } = ctx
  const row = await monitorOf(hub.read, ctx, id)
  const latest = latestOf(hub).get(row.id)
  return { monitor_id: id, result: latest ? told(latest.result) : null }
}

const told = (result: CheckResult): MonitorCheckView['result'] => ({
  ...lastResult(result),
  certificate: certificateView(result.certificate),
  conditions: result.conditions,
  evidence: result.evidence,
})

type CertificateView = NonNullable<MonitorCheckView['result']>['certificate']

function certificateView(facts: CertificateFacts | null): CertificateView {
  if (!facts) return null
  const { subject, issuer, names, serial, sha256, not_before, not_after } = facts
  return { subject, issuer, names, serial, sha256, valid_from_at: instant(not_before), valid_until_at: instant(not_after) }
}
