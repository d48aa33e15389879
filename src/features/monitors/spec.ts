import type { CheckSpec, CheckTypeName, Settled } from '../../checks/check'
import type { NetworkPolicy } from '../../core/net/egress'
import type { Hub } from '../../core/hub'
import { openOptions } from './options'
import type { MonitorRow } from './view'

/**
 * A monitor as an engine runs it, secrets among its options.
 * @param policy of its workspace, for a call that carries a secret where {@link carriesSecret} says so
 * @param settled how the engine's location stood when it was last heard of
 * @throws NotOpened
 */
export async function specOf(hub: Hub, row: MonitorRow, policy: NetworkPolicy, settled: Settled): Promise<CheckSpec> {
  return {
    monitor: row.id,
    revision: row.version,
    type: row.type as CheckTypeName,
    target: row.target,
    options: await openOptions(hub, row),
    interval_ms: row.intervalSeconds * 1000,
    retry_interval_ms: row.retryIntervalSeconds * 1000,
    timeout_ms: row.timeoutSeconds * 1000,
    confirm: row.confirm,
    recover: row.recover,
    down_if: row.downIf,
    degraded_if: row.degradedIf,
    degraded_ms: row.degradedMs,
    policy,
    settled,
  }
}

/** Whether an engine checks it: a group asks nobody, and one that is paused is left alone. */
export const isChecked = (row: Pick<MonitorRow, 'type' | 'paused'>): boolean => row.type !== 'group' && !row.paused

/** Whether a secret travels with its checks. */
export const carriesSecret = (row: Pick<MonitorRow, 'secretNames'>): boolean => row.secretNames.length > 0
