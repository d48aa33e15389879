import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { topicsOf } from '../core/topics'

/** The longest that a request may ask to wait, in seconds. */
export const longestWaitSeconds = 30
/** Requests of one workspace, and of all, that may wait in one process. */
const most = { ofWorkspace: 50, inAll: 2_000 }
// Other hubs of the database do not wake who waits here.
const lookAgainMs = 1_000

/** A request that would rather wait than be answered with nothing (RFC 7240 section 4.3, `Prefer: wait=N`). */
export interface Waiting {
  seconds: number
  /** The client is gone. */
  signal: AbortSignal
  /** Called when the wait begins: from there on the request is not one of those under way with its token. */
  leave(): void
  /** Set once the preference was taken into account. */
  applied: boolean
  /** Set once it did wait: the caller may no longer be who they were. */
  waited: boolean
}

/** The seconds of `Prefer: wait=N`, 30 at most; null where the header does not name any. A preference that cannot be read is ignored. */
export function preferredWait(header: string | null): number | null {
  for (const part of header?.split(',') ?? []) {
    const asked = /^\s*wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;.*)?$/i.exec(part)
    if (asked) return Math.min(Number(asked[1] ?? asked[2]), longestWaitSeconds)
  }
  return null
}

/**
 * What `look` finds, as soon as it finds something: at once, whenever the topic is woken, and every second. Null when the time
 * is over, the client is gone or the hub stops; without a wish to wait it looks once.
 * @throws Problem 429 when too many of the workspace wait already, 503 when too many of all do
 */
export async function waitFor<T>(
  ctx: Ctx,
  waiting: Waiting | null,
  topic: string,
  look: () => Promise<T | null>,
): Promise<T | null> {
  if (waiting) waiting.applied = true
  if (!waiting?.seconds) return await look()
  const { hub } = ctx
  const ends = hub.clock.now() + waiting.seconds * 1_000
  // Heard from before the first look, so that nothing falls between a look and the wait after it.
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const off = topicsOf(hub).on(topic, wake)
  waiting.signal.addEventListener('abort', wake)
  let leave: (() => void) | null = null
  try {
    for (;;) {
      const found = await look()
      if (found !== null) return found
      const left = ends - hub.clock.now()
      if (left <= 0 || waiting.signal.aborted || placesOf(hub).closed) return null
      if (!leave) {
        leave = takePlace(hub, ctx.workspaceId)
        waiting.leave()
        waiting.waited = true
      }
      const timer = hub.clock.after(Math.min(left, lookAgainMs), wake)
      await woken.promise
      timer.cancel()
      woken = Promise.withResolvers()
    }
  } finally {
    off()
    waiting.signal.removeEventListener('abort', wake)
    leave?.()
  }
}

/** Answers everybody who waits, and lets nobody wait any more: the hub stops. */
export function endWaits(hub: Hub): void {
  placesOf(hub).closed = true
  topicsOf(hub).wakeAll()
}

/** How many requests wait in this process. */
export const waitingNow = (hub: Hub): number => placesOf(hub).total

interface Places {
  byWorkspace: Map<string, number>
  total: number
  closed: boolean
}
const places = new WeakMap<Hub, Places>()

function placesOf(hub: Hub): Places {
  let own = places.get(hub)
  if (!own) places.set(hub, (own = { byWorkspace: new Map(), total: 0, closed: false }))
  return own
}

function takePlace(hub: Hub, workspaceId: string): () => void {
  const own = placesOf(hub)
  const taken = own.byWorkspace.get(workspaceId) ?? 0
  const soon = { headers: { 'Retry-After': '1' } }
  if (taken >= most.ofWorkspace)
    throw new Problem(
      'rate_limited',
      `${taken} requests of this workspace wait already. Try again shortly, or without waiting.`,
      {
        ...soon,
        members: { 'violated-policies': ['waiting-requests'] },
      },
    )
  if (own.total >= most.inAll) throw new Problem('overloaded', 'Too many requests wait already. Ask without waiting.', soon)
  own.byWorkspace.set(workspaceId, taken + 1)
  own.total += 1
  return () => {
    own.total -= 1
    const left = own.byWorkspace.get(workspaceId)! - 1
    if (left > 0) own.byWorkspace.set(workspaceId, left)
    else own.byWorkspace.delete(workspaceId)
  }
}
