import { refuseTooManyRequests } from '../../access/limiter'
import type { Waiting } from '../../api/long-poll'
import type { CertificateFacts, CheckResult } from '../../checks/check'
import { instant } from '../../core/clock'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Hub } from '../../core/hub'
import { conflict } from '../../core/problem'
import { latestOf } from './live/latest'
import { monitoringOf, runNow } from './live/watch'
import { findRow } from '../../core/rows'
import type { MonitorCheckView } from './check-shapes'
import { isChecked } from './definition/spec'
import { lastResult, monitorRows, monitorTarget, type MonitorRow } from './view'

const maxPerMinute = 10
const maxWaitMs = 30_000

/**
 * Checks a monitor immediately, in addition to its schedule. The result counts like any other.
 * @param waiting how long the caller is willing to wait; null for the timeout of the monitor, up to 30 s
 * @returns a null result if there was none in time
 * @throws Problem 404, 409 for a monitor that can't be checked, 429
 */
export async function checkNow(ctx: Ctx, id: string, waiting: Waiting | null): Promise<MonitorCheckView> {
  const { hub } = ctx
  const row = await findRow(hub.read, ctx, monitorRows, id)
  if (!isChecked(row))
    throw conflict(
      row.paused
        ? 'The monitor is paused. Resume it before you check it.'
        : 'A group can’t be checked. Check its members instead.',
    )
  refuseTooManyRequests(ctx, 'monitor-checks', id, maxPerMinute)
  if (waiting) waiting.applied = true
  const waitMs = waiting ? waiting.seconds * 1000 : Math.min((row.timeoutSeconds + 1) * 1000, maxWaitMs)
  // The engine may not know a monitor that was just created yet.
  await monitoringOf(hub)?.settled()
  const [result] = await runNow(hub, [id], waitMs)
  return await change(ctx, 'monitor.check', async () => ({
    result: { monitor_id: id, result: result ? checkView(result) : null },
    target: monitorTarget(row),
    reason: result ? `${result.status}${result.error ? `: ${result.error.message}` : ''}` : 'No result in time.',
  }))
}

/**
 * Whether all of these monitors that can be checked pass a check now, in addition to their schedule.
 * @param waitMs how long to wait for the results
 */
export async function passChecks(
  hub: Hub,
  monitors: readonly Pick<MonitorRow, 'id' | 'type' | 'paused'>[],
  waitMs: number,
): Promise<boolean> {
  const ids = monitors.filter(isChecked).map(one => one.id)
  const results = ids.length === 0 ? [] : await runNow(hub, ids, waitMs)
  return results.length === ids.length && results.every(one => one.status !== 'down')
}

/**
 * All details of the last check, from the memory of this hub: null before the first check, after a restart, and for monitors another hub runs.
 * @throws Problem 404
 */
export async function lastCheck(ctx: Ctx, id: string): Promise<MonitorCheckView> {
  const { hub } = ctx
  const row = await findRow(hub.read, ctx, monitorRows, id)
  const latest = latestOf(hub).get(row.id)
  return { monitor_id: id, result: latest ? checkView(latest.result) : null }
}

const checkView = (result: CheckResult): MonitorCheckView['result'] => ({
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
