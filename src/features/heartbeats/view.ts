import { instant } from '../../core/clock'
import { editableView, memberView } from '../../core/members'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { heartbeatMembers, type HeartbeatView } from './shapes'
import { isStarted, statusAt } from './status/state'
import type { heartbeats } from './tables'

export type HeartbeatRow = typeof heartbeats.$inferSelect

const decrypted = new WeakMap<Hub, Map<string, string>>()
const maxDecrypted = 20_000

type Sealed = Pick<HeartbeatRow, 'id' | 'workspaceId' | 'uuidSealed'>

/**
 * Returns the UUID of a heartbeat. Decrypted UUIDs are cached, since a list needs many of them.
 * @param read the transaction, if called inside one
 */
export async function uuidOf(hub: Hub, row: Sealed, read?: Reader): Promise<string> {
  let cache = decrypted.get(hub)
  if (!cache) decrypted.set(hub, (cache = new Map()))
  let uuid = cache.get(row.uuidSealed)
  if (uuid === undefined) {
    uuid = await hub.keys.open(uuidLocation(row), row.uuidSealed, read)
    if (cache.size >= maxDecrypted) cache.delete(cache.keys().next().value!)
    cache.set(row.uuidSealed, uuid)
  }
  return uuid
}

export const uuidLocation = (row: { id: string; workspaceId: string }) => ({
  table: 'heartbeats',
  column: 'uuid_sealed',
  row: row.id,
  workspaceId: row.workspaceId,
})

/** A heartbeat as the API returns it. `uuid` is null if the caller may not see it. */
export function heartbeatView(hub: Hub, row: HeartbeatRow, uuid: string | null): HeartbeatView {
  const status = statusAt(row, hub.clock.now())
  return {
    id: row.id,
    ...memberView(heartbeatMembers, row),
    status,
    status_since_at: instant(row.statusSince),
    started: isStarted(row),
    uuid,
    ping_url: uuid === null ? null : `${hub.baseUrl}/ping/${uuid}`,
    ping_count: row.pingCount,
    last_ping_at: instant(row.lastPingAt),
    last_duration_ms: row.lastDurationMs,
    expected_at: instant(row.expectedAt),
    down_at: instant(row.status === 'down' ? row.statusSince : row.downAt),
    ...editableView(row),
  }
}
