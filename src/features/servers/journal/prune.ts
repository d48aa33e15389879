import { lt } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { pruneRows } from '../../../core/rows'
import { inventoryChanges } from './tables'

const dayMs = 86_400_000
const changesMs = 365 * dayMs

/** Deletes old changes of inventories. */
export async function pruneJournal(hub: Hub): Promise<void> {
  await pruneRows(hub, inventoryChanges, lt(inventoryChanges.at, hub.clock.now() - changesMs), inventoryChanges.at)
}
