import { inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { bootstrapOf } from './bootstrap-refresh'
import { sourcesOf } from './sources'
import { registryFacts } from './tables'

export type FactsRow = typeof registryFacts.$inferSelect

const namesPerQuery = 500

/** What registries say about these names. Names that nobody wants to know about are missing. */
export async function knownFacts(read: Reader, names: readonly string[]): Promise<Map<string, FactsRow>> {
  const found = new Map<string, FactsRow>()
  for (let at = 0; at < names.length; at += namesPerQuery) {
    const some = names.slice(at, at + namesPerQuery)
    for (const row of await read.select().from(registryFacts).where(inArray(registryFacts.name, some))) found.set(row.name, row)
  }
  return found
}

/** Tells whether a server is known for a name. Call it outside of transactions. */
export async function supportedNames(hub: Hub): Promise<(name: string) => boolean> {
  const { bootstrap } = await bootstrapOf(hub)
  return name => sourcesOf(hub.config, bootstrap, name).length > 0
}

/** The answer that the facts are from. Undefined if its server has been asked again without success. */
export const countedOf = ({ evidence, readAt }: FactsRow): FactsRow['evidence'][number] | undefined =>
  evidence.find(one => one.at === readAt && one.result !== 'unknown')
