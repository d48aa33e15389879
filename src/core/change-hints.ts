import type { Timer } from './clock'
import type { Tx } from './db/transaction'
import type { Hub } from './hub'

/**
 * A change that is not in the audit log, because nobody caused it, such as the progress of background work. A hint for clients
 * that stream changes; lost if there are none.
 */
export interface ChangeHint {
  workspaceId: string
  /** `<area>.<thing>.<verb>`, like audit actions, but not one of them. */
  action: string
  type: string
  /** `*` for many resources of the type. */
  id: string
  /** The resource it belongs to, for tokens restricted to resources; null if such tokens must not receive it. */
  parentId: string | null
}

/** Adds a hint, which is published after the transaction is committed. */
export function addChangeHint(tx: Tx, one: ChangeHint): void {
  const hints = byTransaction.get(tx)
  if (!hints) byTransaction.set(tx, [one])
  else if (hints.length < maxPerTransaction) hints.push(one)
}

/** Takes the hints of a transaction. Also call it at the start, because a handle may be used for several transactions. */
export function takeChangeHints(tx: Tx): ChangeHint[] {
  const hints = byTransaction.get(tx) ?? []
  byTransaction.delete(tx)
  return hints
}

const maxPerTransaction = 1_000
const byTransaction = new WeakMap<Tx, ChangeHint[]>()

/** If there are more hints than this of one action in a workspace, they are merged into one. */
const maxHintsPerAction = 20

/** Removes duplicates, and merges many hints of one action. */
export function mergeHints(hints: readonly ChangeHint[]): ChangeHint[] {
  const unique = new Map(hints.map(one => [`${one.workspaceId} ${one.action} ${one.type} ${one.id}`, one]))
  return [...Map.groupBy(unique.values(), one => `${one.workspaceId} ${one.action} ${one.type}`).values()].flatMap(group =>
    group.length > maxHintsPerAction ? [{ ...group[0]!, id: '*', parentId: null }] : group,
  )
}

/** PostgreSQL channel on which hubs send each other hints. */
export const changeHintsChannel = 'bailiwick_change_hints'

const sendDelayMs = 100
// PostgreSQL limits the payload of NOTIFY to 8,000 bytes.
const maxPayloadBytes = 7_000

/** The listeners of this process, and the hints to send to other hubs. */
class ChangeHints {
  private readonly listeners = new Map<string, (hints: readonly ChangeHint[]) => void>()
  private outgoing: ChangeHint[] = []
  private timer: Timer | null = null

  constructor(private readonly hub: Hub) {}

  /** Calls `listener` with the hints of a workspace, until the returned function is called. A workspace has one listener. */
  on(workspaceId: string, listener: (hints: readonly ChangeHint[]) => void): () => void {
    this.listeners.set(workspaceId, listener)
    return () => {
      if (this.listeners.get(workspaceId) === listener) this.listeners.delete(workspaceId)
    }
  }

  /** Notifies this process and other hubs of committed changes. */
  publish(hints: readonly ChangeHint[]): void {
    if (hints.length === 0) return
    this.notifyListeners(hints)
    if (!this.hub.series.isShared) return
    this.outgoing.push(...hints)
    if (this.outgoing.length > maxWaiting) this.outgoing = mergeHints(this.outgoing)
    this.timer ??= this.hub.clock.after(sendDelayMs, () => void this.announce())
  }

  /** Receives hints from another hub. */
  receive(text: string): void {
    const { from, hints } = JSON.parse(text) as { from: string; hints: ChangeHint[] }
    if (from !== this.hub.id) this.notifyListeners(hints)
  }

  private notifyListeners(hints: readonly ChangeHint[]): void {
    if (this.listeners.size === 0) return
    for (const [workspaceId, own] of Map.groupBy(hints, one => one.workspaceId)) this.listeners.get(workspaceId)?.(own)
  }

  private async announce(): Promise<void> {
    this.timer = null
    const hints = mergeHints(this.outgoing)
    this.outgoing = []
    try {
      for (const some of pieces(hints))
        await this.hub.store.notify(changeHintsChannel, JSON.stringify({ from: this.hub.id, hints: some }))
    } catch (error) {
      this.hub.log.warn({ err: error }, 'could not send change hints to the other hubs')
    }
  }
}

const maxWaiting = 2_000

/** Splits hints into lists that fit into one notification each. */
function* pieces(hints: readonly ChangeHint[]): Generator<ChangeHint[]> {
  let some: ChangeHint[] = []
  let length = 0
  for (const one of hints) {
    const more = Buffer.byteLength(JSON.stringify(one)) + 1
    if (length + more > maxPayloadBytes) {
      yield some
      some = []
      length = 0
    }
    some.push(one)
    length += more
  }
  if (some.length > 0) yield some
}

const ofHub = new WeakMap<Hub, ChangeHints>()

/** The change hints of this process. */
export function changeHintsOf(hub: Hub): ChangeHints {
  let hints = ofHub.get(hub)
  if (!hints) ofHub.set(hub, (hints = new ChangeHints(hub)))
  return hints
}
