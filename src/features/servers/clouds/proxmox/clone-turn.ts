/**
 * Lets one clone of an account run at a time: Proxmox fails clones that wait for the lock of a template or storage for more than a few
 * seconds. A turn that is not renewed ends, such as when an action was canceled.
 */
export class CloneTurn {
  #holder: number | null = null
  #until = 0

  /** Takes or renews the turn; returns whether this VMID has it. */
  take(vmid: number, now: number): boolean {
    if (this.#holder !== null && this.#holder !== vmid && now < this.#until) return false
    this.#holder = vmid
    this.#until = now + turnMs
    return true
  }

  end(vmid: number): void {
    if (this.#holder === vmid) this.#holder = null
  }
}

// Operations are polled at least every 30 seconds.
const turnMs = 90_000
