import { waitingCount } from '../../src/api/long-poll'
import type { World } from './world'

/** Lets sent requests get to the point where they wait. */
export async function untilWaiting({ hub }: Pick<World, 'hub'>, count = 1): Promise<void> {
  while (waitingCount(hub) < count) await Bun.sleep(1)
}
