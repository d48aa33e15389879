import type { EngineClock } from './clock'

/** Releases a permit. Safe to call twice. */
export type Release = () => void

interface Waiting {
  limit: number
  proceed(): void
}

/**
 * A semaphore per address. Callers over the limit wait for a limited time and then proceed anyway: checks of an unresponsive server must
 * still run to detect that. Waiting only smooths the load.
 */
export class KeyedSemaphore {
  readonly #active = new Map<string, number>()
  readonly #waiting = new Map<string, Set<Waiting>>()

  constructor(private readonly clock: Pick<EngineClock, 'after'>) {}

  /** @returns a permit synchronously if one is free, to avoid waiting a turn of the event loop */
  acquire(key: string, limit: number, waitMs: number): Release | Promise<Release> {
    if ((this.#active.get(key) ?? 0) < limit) return this.#enter(key)
    return new Promise(resolve => {
      const waiting: Waiting = {
        limit,
        proceed: () => {
          timer.cancel()
          this.#stop(key, waiting)
          resolve(this.#enter(key))
        },
      }
      const timer = this.clock.after(waitMs, waiting.proceed)
      const all = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, all.add(waiting))
    })
  }

  #enter(key: string): Release {
    this.#active.set(key, (this.#active.get(key) ?? 0) + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      const active = this.#active.get(key)! - 1
      if (active === 0) this.#active.delete(key)
      else this.#active.set(key, active)
      const [next] = this.#waiting.get(key) ?? []
      // Callers that proceeded without a permit may still exceed the limit.
      if (next && active < next.limit) next.proceed()
    }
  }

  #stop(key: string, waiting: Waiting): void {
    const all = this.#waiting.get(key)
    all?.delete(waiting)
    if (all?.size === 0) this.#waiting.delete(key)
  }
}
