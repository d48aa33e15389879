const slotMs = 100

/**
 * The offset of a monitor's runs in its interval, in milliseconds from each multiple of the interval since the epoch. It depends only on
 * the id, so runs keep their times across restarts and moves to another hub, and are spread evenly over the interval.
 */
export function phaseOf(id: string, intervalMs: number): number {
  return Math.floor((hashOf(id) / 2 ** 32) * (intervalMs / slotMs)) * slotMs
}

/** The first time after a time, in ms UTC, at the phase. */
export function nextAtPhase(id: string, intervalMs: number, after: number): number {
  const phase = phaseOf(id, intervalMs)
  return Math.floor((after - phase) / intervalMs + 1) * intervalMs + phase
}

/** FNV-1a over UTF-16 units with the finalizer of MurmurHash3; without it, ids that differ only at the end would get close offsets. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
