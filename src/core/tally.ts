import type { Hub } from './hub'

/** What a hub counts for /metrics beside requests and jobs: the help text of each counter. */
export const tallies = {
  heartbeat_pings: 'Pings taken, by kind.',
  monitor_checks: 'Checks of monitors whose result this hub took, by status.',
  monitor_transitions: 'Changes of the status of monitors that this hub wrote, by the status after it.',
  webhook_attempts: 'Tries of webhook deliveries, by outcome.',
  monitor_results: 'Results of checks, by what became of them.',
  dns_queries: 'Queries the built-in name server got, by transport.',
  dns_answers: 'Answers that the built-in name server sent, by code.',
  dns_held_back:
    'Queries the built-in name server did not answer in full: truncated or dropped by the rate limit, or ignored as no query.',
  dns_transfers: 'Zone transfers of the built-in name server, by what came of them.',
  dns_notifies: 'Messages that told secondaries of a change, by what came of them.',
  dns_notifies_received: 'Messages that told the built-in name server of a change elsewhere, by what came of them.',
} as const

export type TallyName = keyof typeof tallies

const counts = new WeakMap<Hub, Map<TallyName, Map<string, number>>>()

/**
 * Counts something that happened. Costs one step in a map, so the hottest path may call it.
 * @param kind one of a few words known beforehand, never a name or an id: each makes a time series of its own
 */
export function tally(hub: Hub, name: TallyName, kind: string, by = 1): void {
  const kinds = tallied(hub, name)
  kinds.set(kind, (kinds.get(kind) ?? 0) + by)
}

/** The counts of this process since its start, by kind. */
export function tallied(hub: Hub, name: TallyName): Map<string, number> {
  let names = counts.get(hub)
  if (!names) counts.set(hub, (names = new Map()))
  let kinds = names.get(name)
  if (!kinds) names.set(name, (kinds = new Map()))
  return kinds
}
