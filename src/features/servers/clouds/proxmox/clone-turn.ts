/**
 * Lets one clone of an account run at a time: Proxmox fails clones that wait for the lock of a template or storage for more than a few
 * seconds. A turn that is not renewed ends, such as when an action was canceled.
 */
export class CloneTurn {
  #holder: number | null = null
  #until = 0
  /** When those that wait asked last, in the order in which they came. */
  readonly #waiting = new Map<number, number>()

  /** Takes or renews the turn; returns whether this VMID has it. */
  take(vmid: number, now: number): boolean {
    for (const [one, askedAt] of this.#waiting) if (askedAt + turnMs < now) this.#waiting.delete(one)
    if (this.#holder !== null && this.#holder !== vmid && now < this.#until) {
      this.#waiting.set(vmid, now)
      return false
    }
    this.#waiting.delete(vmid)
    this.#holder = vmid
    this.#until = now + turnMs
    return true
  }

  /** After how many milliseconds one that waits asks again, earlier the fewer are before it; null if it doesn’t wait. */
  pauseMs(vmid: number): number | null {
    const place = [...this.#waiting.keys()].indexOf(vmid)
    return place === -1 ? null : Math.min((place + 1) * pausePerPlaceMs, maxPauseMs)
  }

  end(vmid: number): void {
    if (this.#holder === vmid) this.#holder = null
  }
}

// Operations are polled at least every 30 seconds.
const turnMs = 90_000
const pausePerPlaceMs = 2000
const maxPauseMs = 30_000
