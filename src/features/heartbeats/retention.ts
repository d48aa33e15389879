import { lt } from 'drizzle-orm'
import type { Hub } from '../../core/hub'
import { pruneRows } from '../../core/rows'
import { flips } from './tables'

// The same retention as in Healthchecks. Pings are pruned when new ones are recorded.
const flipRetentionMs = 93 * 86_400_000

/** Deletes status changes older than 93 days. */
export const pruneHeartbeats = (hub: Hub): Promise<void> =>
  pruneRows(hub, flips, lt(flips.at, hub.clock.now() - flipRetentionMs), flips.id)
