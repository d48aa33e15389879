import type { CheckSpec, CheckTypeName, ConfirmedStatus } from '../../../checks/check'
import type { NetworkPolicy } from '../../../core/net/egress'
import type { Hub } from '../../../core/hub'
import { openOptions } from './options'
import type { MonitorRow } from '../view'

/**
 * A monitor as the check engine runs it, with decrypted secrets.
 * @param policy network policy of its workspace; must require encryption if {@link carriesSecret}
 * @param domainExpiresAt when the registration of its domain ends (ms UTC)
 * @param confirmed the last confirmed status of the engine's location
 * @throws DecryptionFailed
 */
export async function specOf(
  hub: Hub,
  row: MonitorRow,
  policy: NetworkPolicy,
  domainExpiresAt: number | null,
  confirmed: ConfirmedStatus,
): Promise<CheckSpec> {
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
    domain_expires_at: domainExpiresAt,
    confirmed_status: confirmed,
  }
}

/** Whether the engine checks it: groups and paused monitors are not checked. */
export const isChecked = (row: Pick<MonitorRow, 'type' | 'paused'>): boolean => row.type !== 'group' && !row.paused

/** Whether its checks send a secret. */
export const carriesSecret = (row: Pick<MonitorRow, 'secretNames'>): boolean => row.secretNames.length > 0
