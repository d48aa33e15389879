import { instant } from '../../core/clock'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { HeartbeatView } from './shapes'
import { isStarted, statusAt } from './state'
import type { heartbeats } from './tables'

export type HeartbeatRow = typeof heartbeats.$inferSelect

const opened = new WeakMap<Hub, Map<string, string>>()
const mostOpened = 20_000

type Sealed = Pick<HeartbeatRow, 'id' | 'workspaceId' | 'uuidSealed'>

/**
 * The UUID of a heartbeat. Opened ones are remembered, since a list shows a hundred at a time.
 * @param read the transaction's handle when called inside one
 */
export async function uuidOf(hub: Hub, row: Sealed, read?: Reader): Promise<string> {
  let known = opened.get(hub)
  if (!known) opened.set(hub, (known = new Map()))
  let uuid = known.get(row.uuidSealed)
  if (uuid === undefined) {
    uuid = await hub.keys.open(uuidPlace(row), row.uuidSealed, read)
    if (known.size >= mostOpened) known.delete(known.keys().next().value!)
    known.set(row.uuidSealed, uuid)
  }
  return uuid
}

export const uuidPlace = (row: { id: string; workspaceId: string }) => ({
  table: 'heartbeats',
  column: 'uuid_sealed',
  row: row.id,
  workspaceId: row.workspaceId,
})

/** A heartbeat as the API shows it; `uuid` is null for those who may not see it. */
export function heartbeatView(hub: Hub, row: HeartbeatRow, uuid: string | null): HeartbeatView {
  const status = statusAt(row, hub.clock.now())
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    tags: row.tags,
    description: row.description,
    status,
    status_since_at: instant(row.statusSince),
    started: isStarted(row),
    schedule: row.schedule as HeartbeatView['schedule'],
    methods: row.methods,
    manual_resume: row.manualResume,
    first_ping_within_seconds: row.firstPingWithinSeconds,
    severity: row.severity,
    channel_ids: row.channelIds,
    uuid,
    ping_url: uuid === null ? null : `${hub.baseUrl}/ping/${uuid}`,
    ping_count: row.pingCount,
    last_ping_at: instant(row.lastPingAt),
    last_duration_ms: row.lastDurationMs,
    expected_at: instant(row.expectedAt),
    down_at: instant(row.status === 'down' ? row.statusSince : row.downAt),
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}
