// Shared memory: the number of the section that is running, or 0; then the ID of its monitor.
const headerBytes = 4
const maxIdBytes = 60

/**
 * The monitor whose check occupies the check thread, in memory that the main thread can read while the check thread hangs. It covers the
 * parts of a check that run without interruption: its start, and the evaluation of its conditions.
 */
export class CurrentCheck {
  readonly #section: Int32Array
  readonly #id: Uint8Array
  #sections = 0

  /** @param memory of another instance in another thread; new memory by default */
  constructor(readonly memory = new SharedArrayBuffer(headerBytes + maxIdBytes)) {
    this.#section = new Int32Array(memory, 0, 1)
    this.#id = new Uint8Array(memory, headerBytes)
  }

  /** Runs a part of a check. */
  run<T>(monitor: string, fn: () => T): T {
    for (let at = 0; at < maxIdBytes; at++) this.#id[at] = at < monitor.length ? monitor.charCodeAt(at) : 0
    this.#sections = (this.#sections % 0x7fff_ffff) + 1
    Atomics.store(this.#section, 0, this.#sections)
    try {
      return fn()
    } finally {
      Atomics.store(this.#section, 0, 0)
    }
  }

  /** The part that is running; null if none is. */
  read(): { section: number; monitor: string } | null {
    const section = Atomics.load(this.#section, 0)
    const end = this.#id.indexOf(0)
    return section === 0 ? null : { section, monitor: String.fromCharCode(...this.#id.subarray(0, end < 0 ? undefined : end)) }
  }
}
