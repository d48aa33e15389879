import type { Log } from '../../../core/log'
import type { NameServer } from './name-server'
import type { ServedZone } from './served-zone'

/** Where zones come from: all of them, and what has changed since. */
export interface ZoneSource {
  /** The number of the last change; numbers grow in the order of commits. */
  lastChange(): Promise<number>
  /** The zones that are served. */
  list(): Promise<{ id: string }[]>
  /** Zones that changed after a number, in the order of their last changes. */
  changesAfter(number: number): Promise<{ number: number; id: string; name: string }[]>
  /** A zone as it is now; null when it is gone or not served. */
  read(id: string): Promise<ServedZone | null>
}

/**
 * Keeps a name server at what the source has. It takes no input: whoever knows of a change calls `look`, others call it
 * now and then, and a restart, a second hub and a lost message are one and the same to it.
 */
export class ZoneFeed {
  #seen = 0
  #empty = true
  #running: Promise<void> | null = null
  #again = false
  #stopped = false

  constructor(
    private readonly source: ZoneSource,
    private readonly server: Pick<NameServer, 'put' | 'remove' | 'complete'>,
    private readonly log: Log,
  ) {}

  /** Reads what has changed. Safe to call at any time and any number of times. */
  look(): Promise<void> {
    this.#again = true
    return (this.#running ??= this.#run().finally(() => {
      this.#running = null
    }))
  }

  /** The name server has nothing: everything is given to it again. */
  refill(): Promise<void> {
    this.#empty = true
    return this.look()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      try {
        if (this.#empty) await this.#fill()
        await this.#follow()
      } catch (error) {
        // The next look goes on from here.
        this.log.warn({ err: error }, 'the name server could not be told of changed zones')
      }
    }
  }

  async #fill(): Promise<void> {
    this.#empty = false
    try {
      // What changes while this runs has a higher number, and is read after it.
      this.#seen = await this.source.lastChange()
      for (const { id } of await this.source.list()) {
        if (this.#stopped) return
        const zone = await this.source.read(id)
        if (zone) await this.server.put(zone)
      }
      this.server.complete()
    } catch (error) {
      this.#empty = true
      throw error
    }
  }

  async #follow(): Promise<void> {
    for (;;) {
      const changes = await this.source.changesAfter(this.#seen)
      for (const { number, id, name } of changes) {
        if (this.#stopped || this.#empty) return
        const zone = await this.source.read(id)
        if (zone) await this.server.put(zone)
        else this.server.remove(name)
        this.#seen = number
      }
      if (changes.length === 0) return
    }
  }
}
