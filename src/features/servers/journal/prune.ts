import { lt } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { pruneRows } from '../../../core/rows'
import { inventoryChanges, journalEntries } from './tables'

const dayMs = 86_400_000
const changesMs = 365 * dayMs
const journalMs = 90 * dayMs

/** Deletes old changes of inventories, and old entries of journals. */
export async function pruneJournal(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  await pruneRows(hub, inventoryChanges, lt(inventoryChanges.at, now - changesMs), inventoryChanges.at)
  await pruneRows(hub, journalEntries, lt(journalEntries.at, now - journalMs), journalEntries.at)
}
