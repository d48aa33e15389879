/** Limits how many scans run at once, in all and in each group, so that one group can't hold up the others. */
export class ScanSlots {
  #running = 0
  readonly #byGroup = new Map<string, number>()
  readonly #waiting: { group: string; start: () => void }[] = []

  constructor(
    private readonly max: number,
    private readonly maxPerGroup: number,
  ) {}

  /** Waits for a slot. @returns false if the signal aborts first; otherwise call {@link release} */
  async take(group: string, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#isFree(group)) {
      this.#add(group, 1)
      return true
    }
    return await new Promise(resolve => {
      const stop = () => {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        resolve(false)
      }
      const start = () => {
        signal.removeEventListener('abort', stop)
        resolve(true)
      }
      const one = { group, start }
      this.#waiting.push(one)
      signal.addEventListener('abort', stop, { once: true })
    })
  }

  release(group: string): void {
    this.#add(group, -1)
    const next = this.#waiting.findIndex(one => this.#isFree(one.group))
    if (next === -1) return
    const [one] = this.#waiting.splice(next, 1)
    this.#add(one!.group, 1)
    one!.start()
  }

  #isFree(group: string): boolean {
    return this.#running < this.max && (this.#byGroup.get(group) ?? 0) < this.maxPerGroup
  }

  #add(group: string, count: number): void {
    this.#running += count
    const own = (this.#byGroup.get(group) ?? 0) + count
    if (own === 0) this.#byGroup.delete(group)
    else this.#byGroup.set(group, own)
  }
}
