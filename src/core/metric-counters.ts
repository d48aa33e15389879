import type { Declared } from './declared'
import type { Hub } from './hub'

export type MetricCounterName = keyof Declared['metricCounters']

const counts = new WeakMap<Hub, Map<MetricCounterName, Map<string, number>>>()

/**
 * Increments a counter. Cheap enough for hot paths.
 * @param kind one of a small fixed set, never a name or an id: each value becomes a time series
 */
export function incrementCounter(hub: Hub, name: MetricCounterName, kind: string, by = 1): void {
  const kinds = counterValues(hub, name)
  kinds.set(kind, (kinds.get(kind) ?? 0) + by)
}

/** The values of a counter since this process started, by kind. */
export function counterValues(hub: Hub, name: MetricCounterName): Map<string, number> {
  let names = counts.get(hub)
  if (!names) counts.set(hub, (names = new Map()))
  let kinds = names.get(name)
  if (!kinds) names.set(name, (kinds = new Map()))
  return kinds
}
