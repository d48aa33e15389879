import type { Log } from '../../../core/log'
import type { NameServer } from './name-server'
import type { ServedZone } from './served-zone'
import type { TransferRights } from './transfer-keys'

/** Where zones come from: all of them, and what has changed since. */
export interface ZoneSource {
  /** The number of the last change; numbers grow in the order of commits. */
  lastChange(): Promise<number>
  /** The zones that are served. */
  list(): Promise<{ id: string }[]>
  /** Zones that changed after a number, in the order of their last changes. */
  changesAfter(number: number): Promise<ZoneChange[]>
  /** A zone as it is now; null when it is gone or not served. */
  read(id: string): Promise<ServedZone | null>
  /** The SOA of a zone, and what else of it has changed after a number, as it is now; null when it is gone or not served. */
  readChanges(id: string, after: number): Promise<ServedZone | null>
  /** Grows whenever {@link rights} change. */
  rightsNumber(): Promise<number>
  /** Who may transfer what. */
  rights(): Promise<TransferRights>
}

/** The last change of a zone. */
export interface ZoneChange {
  id: string
  name: string
  number: number
  /** Whoever has seen less than this has to read the whole zone. */
  wholeNumber: number
  /** Whether it is a zone that only holders of its keys are told of. */
  hidden?: boolean
}

/**
 * Keeps a name server at what the source has. It takes no input: whoever knows of a change calls `look`, others call it
 * now and then, and a restart, a second hub and a lost message are one and the same to it.
 */
export class ZoneFeed {
  #seen = 0
  #empty = true
  #rightsSeen = -1
  /**
   * The zones that the server has, by id, with the number as of which it has each: changes of other zones come between two changes
   * of one, so how far all of them were followed says nothing about it.
   */
  readonly #given = new Map<string, number>()
  #running: Promise<void> | null = null
  #again = false
  #stopped = false

  constructor(
    private readonly source: ZoneSource,
    private readonly server: Pick<NameServer, 'put' | 'change' | 'remove' | 'complete' | 'grant'>,
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
    this.#rightsSeen = -1
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
        await this.#grant()
        if (this.#empty) await this.#fill()
        await this.#follow()
      } catch (error) {
        // The next look goes on from here.
        this.log.warn({ err: error }, 'the name server could not be told of changed zones')
      }
    }
  }

  async #grant(): Promise<void> {
    const number = await this.source.rightsNumber()
    if (number === this.#rightsSeen) return
    this.server.grant(await this.source.rights())
    this.#rightsSeen = number
  }

  async #fill(): Promise<void> {
    this.#empty = false
    try {
      // What changes while this runs has a higher number, and is read after it.
      this.#seen = await this.source.lastChange()
      this.#given.clear()
      for (const { id } of await this.source.list()) {
        // A server that began anew meanwhile has only a part of them.
        if (this.#stopped || this.#empty) return
        const zone = await this.source.read(id)
        if (zone) await this.#put(id, zone, this.#seen)
      }
      if (!this.#empty) this.server.complete()
    } catch (error) {
      this.#empty = true
      throw error
    }
  }

  async #follow(): Promise<void> {
    for (;;) {
      const changes = await this.source.changesAfter(this.#seen)
      for (const change of changes) {
        if (this.#stopped || this.#empty) return
        await this.#tell(change)
        this.#seen = change.number
      }
      if (changes.length === 0) return
    }
  }

  async #tell({ id, name, number, wholeNumber, hidden }: ZoneChange): Promise<void> {
    const given = this.#given.get(id)
    const isPart = given !== undefined && wholeNumber <= given
    const zone = await (isPart ? this.source.readChanges(id, given) : this.source.read(id))
    if (zone && isPart) {
      this.server.change(zone)
      this.#given.set(id, number)
    } else if (zone) await this.#put(id, zone, number)
    else {
      this.#given.delete(id)
      this.server.remove(name, hidden)
    }
  }

  async #put(id: string, zone: ServedZone, number: number): Promise<void> {
    await this.server.put(zone)
    this.#given.set(id, number)
  }
}
