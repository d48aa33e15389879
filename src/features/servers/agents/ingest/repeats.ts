import type { Hub } from '../../../../core/hub'
import { maxClockSkewMs, type RequestSignature } from '../../../../wire/signed'
import type { AgentRow } from '../rows'

type Signed = Pick<RequestSignature, 'time' | 'count'>

/**
 * The last signed requests of an agent. Requests that are sent together can arrive in another order, so those since the oldest of them
 * are compared one by one. Older ones are refused.
 */
export class RecentRequests {
  private readonly recent: Signed[] = []

  /** @param floor requests signed up to this time (ms UTC) count as received */
  constructor(private floor: number) {}

  /** Whether a request was received before. If not, it counts as received. */
  repeats({ time, count }: Signed): boolean {
    if (time <= this.floor || this.recent.some(one => one.time === time && one.count === count)) return true
    this.recent.push({ time, count })
    if (this.recent.length > maxRecent) {
      this.recent.sort((a, b) => a.time - b.time)
      this.floor = this.recent.shift()!.time
    }
    return false
  }

  /** When the newest one was signed (ms UTC). */
  get newest(): number {
    return this.recent.reduce((most, one) => Math.max(most, one.time), this.floor)
  }
}

const maxRecent = 64
const maxAgents = 20_000

const byHub = new WeakMap<Hub, Map<string, RecentRequests>>()

/** Whether a signed request of an agent was received before, by this process or before its last report that any hub stored. */
export function isRepeated(hub: Hub, { id, signedAt }: Pick<AgentRow, 'id' | 'signedAt'>, signed: Signed): boolean {
  let known = byHub.get(hub)
  if (!known) byHub.set(hub, (known = new Map()))
  let recent = known.get(id)
  if (!recent) {
    if (known.size >= maxAgents) forgetOld(known, hub.clock.now())
    known.set(id, (recent = new RecentRequests(signedAt ?? 0)))
  }
  return recent.repeats(signed)
}

/** Those signed so long ago are refused anyway. */
function forgetOld(known: Map<string, RecentRequests>, now: number): void {
  for (const [id, recent] of known) if (recent.newest < now - maxClockSkewMs) known.delete(id)
}
