import { record } from '../../../core/change'
import { aliasAddressesOf } from '../aliases/expand'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import type { Snapshot } from '../providers/provider'
import type { ZoneRow } from '../zone-rows'
import { claimMs, holdClaim, type Claimed } from './claim-target'
import { evaluate, type Known, type Reading } from './evaluate'
import { usualRules } from './ignoring'
import type { Opened } from './read-target'
import { writeStands } from './stand-rows'
import { desiredOf, knownAt } from './target-rows'

/** What of a reading follows from the zone and the provider alone. */
export const readingOf = (
  zone: ZoneRow,
  { provider }: Opened,
  snapshot: Snapshot,
  known: ReadonlyMap<string, Known>,
): Omit<Reading, 'desired' | 'aliases' | 'isNew' | 'isFirst' | 'puts' | 'isExclusive'> => ({
  known,
  observed: snapshot.rrsets,
  caps: provider.caps,
  unfit: rrset => provider.unfit(rrset),
  rules: zone.ignoreRules ?? usualRules,
})

const atOnce = 1000

/**
 * Writes down what the first reading of a long zone tells in pieces, for others to have their turn between them. What changes here
 * meanwhile is looked at when the reading is settled, which then has little left to write.
 * @throws ClaimLost
 */
export async function writeFirstReading(hub: Hub, claimed: Claimed, opened: Opened, snapshot: Snapshot): Promise<void> {
  const { target, zone } = claimed
  if (target.lastReadAt !== null || snapshot.rrsets.length <= atOnce) return
  const known = await knownAt(hub.read, target.id)
  const desired = await desiredOf(hub.read, zone.id)
  const { stands } = evaluate({
    ...readingOf(zone, opened, snapshot, known),
    desired,
    aliases: await aliasAddressesOf(hub.read, zone.id),
    isNew: opened.isNew,
    isFirst: true,
    puts: () => false,
    isExclusive: false,
  })
  for (let at = 0; at < stands.length; at += atOnce) {
    await record(hub, async tx => {
      await holdClaim(tx, claimed, hub.clock.now() + claimMs)
      await writeStands(tx, zone, target, { stands: stands.slice(at, at + atOnce), gone: [] }, known, hub.clock.now())
      return { result: undefined }
    })
    await othersTurn()
  }
}
