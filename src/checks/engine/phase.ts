const slotMs = 100

/**
 * Where in its interval a monitor has its turns: milliseconds from each multiple of the interval since the epoch. It follows from the
 * id alone, so turns stay where they are over restarts and moves to another hub, and lie evenly over the interval.
 */
export function phaseOf(id: string, intervalMs: number): number {
  return Math.floor((hashOf(id) / 2 ** 32) * (intervalMs / slotMs)) * slotMs
}

/** FNV-1a over UTF-16 units, and the last step of MurmurHash3, without which ids that differ in their end would lie side by side. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
