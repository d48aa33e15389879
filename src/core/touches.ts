import type { Timer } from './clock'
import type { Tx } from './db/transaction'
import type { Hub } from './hub'

/**
 * Something changed of which the audit log does not tell: work went on, nobody did anything. It is a hint for those who listen, and
 * lost where nobody does.
 */
export interface Touch {
  workspaceId: string
  /** `<area>.<thing>.<verb>`, as the audit log names what is done; beside its words. */
  action: string
  type: string
  /** `*` for many of its type. */
  id: string
  /** The resource it belongs to, by whose id a narrowed token may hear of it; null where none may. */
  within: string | null
}

/** Notes a touch; it is told once the transaction is committed, and with it forgotten. */
export function touch(tx: Tx, one: Touch): void {
  const noted = byTransaction.get(tx)
  if (!noted) byTransaction.set(tx, [one])
  else if (noted.length < mostOfOne) noted.push(one)
}

/** The touches of a transaction so far, which are then none any more. To be called at its beginning too: a handle may serve several. */
export function takeTouches(tx: Tx): Touch[] {
  const noted = byTransaction.get(tx) ?? []
  byTransaction.delete(tx)
  return noted
}

const mostOfOne = 1_000
const byTransaction = new WeakMap<Tx, Touch[]>()

/** Of more of one action in a workspace than this, it is told once that there were many. */
export const mostTold = 20

/** Each once, and many of one kind as one. */
export function fewer(touches: readonly Touch[]): Touch[] {
  const once = new Map(touches.map(one => [`${one.workspaceId} ${one.action} ${one.type} ${one.id}`, one]))
  return [...Map.groupBy(once.values(), one => `${one.workspaceId} ${one.action} ${one.type}`).values()].flatMap(alike =>
    alike.length > mostTold ? [{ ...alike[0]!, id: '*', within: null }] : alike,
  )
}

/** Name of the PostgreSQL channel on which hubs tell each other of touches. */
export const touchesChannel = 'bailiwick_touches'

const gatherMs = 100
// What a notification of PostgreSQL may carry at most is 8,000 octets (NOTIFY).
const longestAnnouncement = 7_000

/** Who in this process hears of touches, and what other hubs are still to be told of. */
class Touches {
  private readonly listeners = new Map<string, (touches: readonly Touch[]) => void>()
  private forOthers: Touch[] = []
  private timer: Timer | null = null

  constructor(private readonly hub: Hub) {}

  /** Calls `listener` with the touches of a workspace, until the returned function is called. One listens for all of a workspace. */
  on(workspaceId: string, listener: (touches: readonly Touch[]) => void): () => void {
    this.listeners.set(workspaceId, listener)
    return () => {
      if (this.listeners.get(workspaceId) === listener) this.listeners.delete(workspaceId)
    }
  }

  /** Tells of what was committed here. */
  tell(touches: readonly Touch[]): void {
    if (touches.length === 0) return
    this.hear(touches)
    if (!this.hub.series.isShared) return
    this.forOthers.push(...touches)
    if (this.forOthers.length > mostWaiting) this.forOthers = fewer(this.forOthers)
    this.timer ??= this.hub.clock.after(gatherMs, () => void this.announce())
  }

  /** Takes what another hub announced. */
  heard(text: string): void {
    const { from, touches } = JSON.parse(text) as { from: string; touches: Touch[] }
    if (from !== this.hub.id) this.hear(touches)
  }

  private hear(touches: readonly Touch[]): void {
    if (this.listeners.size === 0) return
    for (const [workspaceId, own] of Map.groupBy(touches, one => one.workspaceId)) this.listeners.get(workspaceId)?.(own)
  }

  private async announce(): Promise<void> {
    this.timer = null
    const touches = fewer(this.forOthers)
    this.forOthers = []
    try {
      for (const some of pieces(touches))
        await this.hub.store.announce(touchesChannel, JSON.stringify({ from: this.hub.id, touches: some }))
    } catch (error) {
      this.hub.log.warn({ err: error }, 'what went on here was not told to the other hubs')
    }
  }
}

const mostWaiting = 2_000

/** Lists that are short enough for one announcement each. */
function* pieces(touches: readonly Touch[]): Generator<Touch[]> {
  let some: Touch[] = []
  let length = 0
  for (const one of touches) {
    const more = Buffer.byteLength(JSON.stringify(one)) + 1
    if (length + more > longestAnnouncement) {
      yield some
      some = []
      length = 0
    }
    some.push(one)
    length += more
  }
  if (some.length > 0) yield some
}

const ofHub = new WeakMap<Hub, Touches>()

/** The touches of this process. */
export function touchesOf(hub: Hub): Touches {
  let touches = ofHub.get(hub)
  if (!touches) ofHub.set(hub, (touches = new Touches(hub)))
  return touches
}
