import type { EngineClock } from './clock'

/** Gives a place back. Safe to call twice. */
export type Leave = () => void

interface Waiting {
  most: number
  go(): void
}

/**
 * Places at addresses: so many may be taken at once, and who comes then waits for one, a limited time. After it he goes all the same,
 * for a server that never answers must not keep the checks of it from finding that out. Nothing is lost by waiting, only smoothed.
 */
export class Places {
  readonly #taken = new Map<string, number>()
  readonly #waiting = new Map<string, Set<Waiting>>()

  constructor(private readonly clock: Pick<EngineClock, 'after'>) {}

  /** @returns at once where there is a place, so that nothing waits a turn of the loop for it */
  take(key: string, most: number, waitMs: number): Leave | Promise<Leave> {
    if ((this.#taken.get(key) ?? 0) < most) return this.#enter(key)
    return new Promise(resolve => {
      const waiting: Waiting = {
        most,
        go: () => {
          timer.cancel()
          this.#stop(key, waiting)
          resolve(this.#enter(key))
        },
      }
      const timer = this.clock.after(waitMs, waiting.go)
      const all = this.#waiting.get(key) ?? new Set()
      this.#waiting.set(key, all.add(waiting))
    })
  }

  #enter(key: string): Leave {
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      const taken = this.#taken.get(key)! - 1
      if (taken === 0) this.#taken.delete(key)
      else this.#taken.set(key, taken)
      const [next] = this.#waiting.get(key) ?? []
      // Those who went without a place may still be more than there are.
      if (next && taken < next.most) next.go()
    }
  }

  #stop(key: string, waiting: Waiting): void {
    const all = this.#waiting.get(key)
    all?.delete(waiting)
    if (all?.size === 0) this.#waiting.delete(key)
  }
}
