import { record } from '../../../core/change'
import { aliasAddressesOf } from '../aliases/expand'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import type { Snapshot } from '../providers/provider'
import { claimMs, confirmClaim, type ClaimedTarget } from '../targets/claim-target'
import { evaluate, evaluationInput } from './evaluate'
import type { OpenedTarget } from './read-target'
import { storeRrsetStates } from '../targets/rrset-state-rows'
import { desiredRrsets, knownStates } from '../targets/target-rows'

const batchSize = 1000

/**
 * Stores the first snapshot of a large zone in batches, so that other writers get their turn. `recordSnapshot` then handles
 * changes made meanwhile, and has little left to write.
 * @throws ClaimLost
 */
export async function storeFirstSnapshot(
  hub: Hub,
  claimed: ClaimedTarget,
  opened: OpenedTarget,
  snapshot: Snapshot,
): Promise<void> {
  const { target, zone } = claimed
  if (target.lastReadAt !== null || snapshot.rrsets.length <= batchSize) return
  const known = await knownStates(hub.read, target.id)
  const desired = await desiredRrsets(hub.read, zone.id)
  const { states } = evaluate({
    ...evaluationInput(zone, opened.provider, snapshot, known),
    desired,
    aliases: await aliasAddressesOf(hub.read, zone.id),
    isNew: opened.isNew,
    isFirst: true,
    enforces: () => false,
    deletesUnmanaged: false,
  })
  for (let at = 0; at < states.length; at += batchSize) {
    await record(hub, async tx => {
      await confirmClaim(tx, claimed, hub.clock.now() + claimMs)
      await storeRrsetStates(tx, zone, target, { states: states.slice(at, at + batchSize), absent: [] }, known, hub.clock.now())
      return { result: undefined }
    })
    await yieldToEventLoop()
  }
}
