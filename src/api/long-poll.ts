import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'
import { topicsOf } from '../core/topics'

/** The longest time that a request may wait, in seconds. */
export const maxWaitSeconds = 30

/** Limits of a kind of waiting requests. */
export interface WaitLimits {
  name: string
  /** Maximum number in one process, per workspace and in total. */
  ofWorkspace: number
  inAll: number
  /** How often each looks again. Changes made by other hubs on the same database do not wake requests here. Null if something else does. */
  pollMs: number | null
}

const ofClients: WaitLimits = { name: 'clients', ofWorkspace: 50, inAll: 2_000, pollMs: 1_000 }

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
 * Returns what `look` finds, as soon as it finds something. Looks immediately, whenever the topic is woken, and by default every second.
 * Returns null if the time is over, the client disconnects or the hub stops. If the request does not wait, looks once. Does not look
 * once the client has disconnected, because looking can change what others find.
 * @throws Problem 429 if too many requests of the workspace are waiting, 503 if too many are waiting in total
 */
export async function waitFor<T>(
  ctx: Pick<Ctx, 'hub' | 'workspaceId'>,
  waiting: Waiting | null,
  topic: string,
  look: () => Promise<T | null>,
  limits: WaitLimits = ofClients,
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
        leave = addWaiter(hub, ctx.workspaceId, limits)
        waiting.onWait()
        waiting.waited = true
      }
      const timer = hub.clock.after(Math.min(remaining, limits.pollMs ?? remaining), wake)
      await woken.promise
      timer.cancel()
      if (waiting.signal.aborted) return null
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
export const waitingCount = (hub: Hub): number => [...waitersOf(hub).totals.values()].reduce((sum, one) => sum + one, 0)

interface Waiters {
  /** By kind, and by kind and workspace. */
  totals: Map<string, number>
  byWorkspace: Map<string, number>
  closed: boolean
}
const waiters = new WeakMap<Hub, Waiters>()

function waitersOf(hub: Hub): Waiters {
  let own = waiters.get(hub)
  if (!own) waiters.set(hub, (own = { totals: new Map(), byWorkspace: new Map(), closed: false }))
  return own
}

function addWaiter(hub: Hub, workspaceId: string, { name, ofWorkspace, inAll }: WaitLimits): () => void {
  const { totals, byWorkspace } = waitersOf(hub)
  const place = `${name} ${workspaceId}`
  const current = byWorkspace.get(place) ?? 0
  const extras = { headers: { 'Retry-After': '1' } }
  if (current >= ofWorkspace)
    throw new Problem(
      'rate_limited',
      `${current} requests of this workspace are already waiting, which is the maximum. Try again shortly, or send the request without Prefer: wait.`,
      {
        ...extras,
        fields: { 'violated-policies': ['waiting-requests'] },
      },
    )
  if ((totals.get(name) ?? 0) >= inAll)
    throw new Problem('overloaded', 'Too many requests are already waiting. Send the request without Prefer: wait.', extras)
  const add = (map: Map<string, number>, key: string, by: number) => {
    const count = (map.get(key) ?? 0) + by
    if (count > 0) map.set(key, count)
    else map.delete(key)
  }
  add(totals, name, 1)
  add(byWorkspace, place, 1)
  return () => {
    add(totals, name, -1)
    add(byWorkspace, place, -1)
  }
}
