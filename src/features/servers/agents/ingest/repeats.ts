import type { Hub } from '../../../../core/hub'
import type { RequestSignature } from '../../../../wire/request-signature'
import type { AgentRow } from '../rows'

type Signed = Pick<RequestSignature, 'time' | 'count'>

/** Agents have one request for commands and one report open at a time. */
const maxRecent = 16

/**
 * The last signed requests of an agent. Requests that are sent together can arrive in another order, so those since the oldest of them
 * are compared one by one. Older ones are refused.
 */
export class RecentRequests {
  private readonly recent: Signed[] = []
  /** Those up to this one count as received. */
  private floor: Signed = { time: 0, count: 0 }

  /**
   * Whether a request was received before. If not, it counts as received.
   * @param storedAt when the last report that any hub stored was signed (ms UTC). Requests signed before count as received, unless
   *   this was the hub that received it, which compares them one by one.
   */
  repeats(signed: Signed, storedAt: number): boolean {
    if (storedAt > this.floor.time && this.recent.every(one => one.time < storedAt))
      this.floor = { time: storedAt, count: Infinity }
    if (inOrder(signed, this.floor) <= 0 || this.recent.some(one => inOrder(one, signed) === 0)) return true
    this.recent.push(signed)
    if (this.recent.length > maxRecent) this.floor = this.recent.sort(inOrder).shift()!
    return false
  }
}

/** Compares by the order in which an agent signed them. */
const inOrder = (a: Signed, b: Signed): number => a.time - b.time || a.count - b.count

/** How many agents are remembered, about 1 KB each. Those that sent a request longest ago are forgotten first. */
const maxAgents = 20_000

// A Map keeps insertion order, so the least recently used entry comes first.
const byHub = new WeakMap<Hub, Map<string, RecentRequests>>()

/**
 * Whether a signed request of an agent was received before: by this process, or by any hub before the last report that was stored. A
 * request that was recorded since then, with its token, can still be sent once to each other hub, and to this one after a restart.
 * That a report or result is sent again changes nothing, and commands that were fetched this way are sent again ten seconds later.
 */
export function isRepeated(hub: Hub, { id, signedAt }: Pick<AgentRow, 'id' | 'signedAt'>, signed: Signed): boolean {
  let known = byHub.get(hub)
  if (!known) byHub.set(hub, (known = new Map()))
  const recent = known.get(id) ?? new RecentRequests()
  if (!known.delete(id) && known.size >= maxAgents) known.delete(known.keys().next().value!)
  known.set(id, recent)
  return recent.repeats({ time: signed.time, count: signed.count }, signedAt ?? 0)
}
