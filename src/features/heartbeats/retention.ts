import { lt } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Hub } from '../../core/hub'
import { flips } from './tables'

// As Healthchecks keeps them; pings are pruned as they come.
const keptFlipsMs = 93 * 86_400_000

/** Deletes changes of status that are older than 93 days. */
export async function pruneHeartbeats(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await tx.delete(flips).where(lt(flips.at, hub.clock.now() - keptFlipsMs))
    return { result: undefined }
  })
}
