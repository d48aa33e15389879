import type { Hub } from '../../core/hub'

/** Tries that one endpoint may have in flight from one process. */
export const mostInFlight = 8

const inFlight = new WeakMap<Hub, Map<string, number>>()

/** Takes one of an endpoint's places in flight; returns what gives it back, or null when all are taken. */
export function takeSlot(hub: Hub, endpointId: string): (() => void) | null {
  let counts = inFlight.get(hub)
  if (!counts) inFlight.set(hub, (counts = new Map()))
  const taken = counts.get(endpointId) ?? 0
  if (taken >= mostInFlight) return null
  counts.set(endpointId, taken + 1)
  return () => {
    const left = (counts.get(endpointId) ?? 1) - 1
    if (left > 0) counts.set(endpointId, left)
    else counts.delete(endpointId)
  }
}
