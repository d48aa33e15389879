import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { topicsOf } from '../core/topics'

/** The longest time that a request may wait, in seconds. */
export const maxWaitSeconds = 30
/** Maximum number of waiting requests in one process, per workspace and in total. */
const maxWaiting = { ofWorkspace: 50, inAll: 2_000 }
// Changes made by other hubs on the same database do not wake waiting requests here.
const pollMs = 1_000

/** A request that prefers to wait over an empty response (RFC 7240 section 4.3, `Prefer: wait=N`). */
export interface Waiting {
  seconds: number
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  /** Called when the wait begins. A waiting request no longer counts as in progress for its token. */
  onWait(): void
  /** Set once the preference was applied. */
  applied: boolean
  /** Set once the request waited: the caller’s access may have changed since. */
  waited: boolean
}

/** The seconds of `Prefer: wait=N`, at most 30; null if the header has none. A malformed preference is ignored. */
export function preferredWait(header: string | null): number | null {
  for (const part of header?.split(',') ?? []) {
    const match = /^\s*wait\s*=\s*(?:(\d{1,9})|"(\d{1,9})")\s*(?:;.*)?$/i.exec(part)
    if (match) return Math.min(Number(match[1] ?? match[2]), maxWaitSeconds)
  }
  return null
}

/**
 * Returns what `look` finds, as soon as it finds something. Looks immediately, whenever the topic is woken, and every second.
 * Returns null if the time is over, the client disconnects or the hub stops. If the request does not wait, looks once.
 * @throws Problem 429 if too many requests of the workspace are waiting, 503 if too many are waiting in total
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
  const endsAt = hub.clock.now() + waiting.seconds * 1_000
  // Subscribe before the first look, so that no change is missed between a look and the following wait.
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const off = topicsOf(hub).on(topic, wake)
  waiting.signal.addEventListener('abort', wake)
  let leave: (() => void) | null = null
  try {
    for (;;) {
      const found = await look()
      if (found !== null) return found
      const remaining = endsAt - hub.clock.now()
      if (remaining <= 0 || waiting.signal.aborted || waitersOf(hub).closed) return null
      if (!leave) {
        leave = addWaiter(hub, ctx.workspaceId)
        waiting.onWait()
        waiting.waited = true
      }
      const timer = hub.clock.after(Math.min(remaining, pollMs), wake)
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

/** Ends all waits and refuses new ones, because the hub stops. */
export function endWaits(hub: Hub): void {
  waitersOf(hub).closed = true
  topicsOf(hub).wakeAll()
}

/** How many requests are waiting in this process. */
export const waitingCount = (hub: Hub): number => waitersOf(hub).total

interface Waiters {
  byWorkspace: Map<string, number>
  total: number
  closed: boolean
}
const waiters = new WeakMap<Hub, Waiters>()

function waitersOf(hub: Hub): Waiters {
  let own = waiters.get(hub)
  if (!own) waiters.set(hub, (own = { byWorkspace: new Map(), total: 0, closed: false }))
  return own
}

function addWaiter(hub: Hub, workspaceId: string): () => void {
  const own = waitersOf(hub)
  const current = own.byWorkspace.get(workspaceId) ?? 0
  const extras = { headers: { 'Retry-After': '1' } }
  if (current >= maxWaiting.ofWorkspace)
    throw new Problem(
      'rate_limited',
      `${current} requests of this workspace are already waiting, which is the maximum. Try again shortly, or send the request without Prefer: wait.`,
      {
        ...extras,
        fields: { 'violated-policies': ['waiting-requests'] },
      },
    )
  if (own.total >= maxWaiting.inAll)
    throw new Problem('overloaded', 'Too many requests are already waiting. Send the request without Prefer: wait.', extras)
  own.byWorkspace.set(workspaceId, current + 1)
  own.total += 1
  return () => {
    own.total -= 1
    const remaining = own.byWorkspace.get(workspaceId)! - 1
    if (remaining > 0) own.byWorkspace.set(workspaceId, remaining)
    else own.byWorkspace.delete(workspaceId)
  }
}
