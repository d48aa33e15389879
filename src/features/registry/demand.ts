import { asc, gt, min, sql } from 'drizzle-orm'
import type { Hub } from '../../core/hub'
import { yieldToEventLoop } from '../../core/time-slices'
import { registryInterests } from './tables'

/** The lookups that are wanted below a top-level domain. */
export interface Demand {
  /** Without the canary. */
  names: number
  /** Queries per day, with the canary. */
  perDay: number
}

const memoryMs = 60_000
const namesPerQuery = 2000
const secondsPerDay = 86_400

const inMemory = new WeakMap<Hub, { countedAt: number; demand: ReadonlyMap<string, Demand> }>()

/** Counts again when the demand is needed next, because someone wants something else. Other hubs notice it after a minute. */
export const forgetDemand = (hub: Hub): void => void inMemory.delete(hub)

/** The demand by top-level domain. Counts all names in short steps, at most once a minute while nothing changes here. */
export async function demandByTld(hub: Hub): Promise<ReadonlyMap<string, Demand>> {
  const now = hub.clock.now()
  const known = inMemory.get(hub)
  if (known && now >= known.countedAt && now - known.countedAt < memoryMs) return known.demand
  const demand = new Map<string, Demand>()
  const { name, everySeconds, holderType } = registryInterests
  for (let after = ''; ;) {
    const rows = await hub.read
      .select({
        name,
        seconds: min(everySeconds),
        isWatched: sql`max(case when ${holderType} = 'canary' then 0 else 1 end)`.mapWith(Number),
      })
      .from(registryInterests)
      .where(gt(name, after))
      .groupBy(name)
      .orderBy(asc(name))
      .limit(namesPerQuery)
    for (const row of rows) {
      const tld = row.name.slice(row.name.lastIndexOf('.') + 1)
      const { names, perDay } = demand.get(tld) ?? { names: 0, perDay: 0 }
      demand.set(tld, { names: names + row.isWatched, perDay: perDay + secondsPerDay / row.seconds! })
    }
    if (rows.length < namesPerQuery) {
      inMemory.set(hub, { countedAt: now, demand })
      return demand
    }
    after = rows.at(-1)!.name
    await yieldToEventLoop()
  }
}
