import type { Log } from '../../../core/log'
import type { NameServer } from './name-server'
import type { ServedZone } from './served-zone'
import type { PackedZone } from './packed-zone'
import type { TransferRights } from './transfer-keys'

/** Source of zones and their changes. */
export interface ZoneSource {
  /** Number of the last change; numbers increase in commit order. */
  lastChange(): Promise<number>
  /** Lists the served zones. */
  list(): Promise<{ id: string }[]>
  /** Zones that changed after a number, ordered by their last change. */
  changesAfter(number: number): Promise<ZoneChange[]>
  /** Reads a zone; null if it was deleted or is not served. */
  read(id: string): Promise<ServedZone | PackedZone | null>
  /** Reads the SOA and what else changed after a number; null if the zone was deleted or is not served. */
  readChanges(id: string, after: number): Promise<ServedZone | null>
  /** Increases when {@link rights} change. */
  rightsVersion(): Promise<number>
  /** Reads the TSIG keys and their rights. */
  rights(): Promise<TransferRights>
}

interface SentZone {
  name: string
  hidden: boolean
  /** Number of the last change that was sent. */
  number: number
  /** Number of RRsets that were sent since the whole zone. */
  changes: number
  maxChanges: number
}

// Changed RRsets need several times as much memory as packed ones. After this many, the zone is packed again.
const minChanges = 10_000
const changesShare = 0.05

/** The last change of a zone. */
export interface ZoneChange {
  id: string
  name: string
  number: number
  /** Consumers that have seen less than this must read the whole zone. */
  wholeNumber: number
  /** Whether the zone is visible only with its keys. */
  hidden?: boolean
}

/**
 * Keeps a name server in sync with a source. `poll` reads what has changed; it is called on known changes and periodically, so
 * restarts, other hubs and lost messages need no special handling.
 */
export class ZoneFeed {
  #seen = 0
  #empty = true
  #rightsSeen = -1
  /** Zones that were sent to the server. Kept when it lost its state: some of its threads may still have them. */
  readonly #sent = new Map<string, SentZone>()
  #running: Promise<void> | null = null
  #again = false
  #stopped = false

  constructor(
    private readonly source: ZoneSource,
    private readonly server: Pick<NameServer, 'put' | 'change' | 'remove' | 'complete' | 'grant'>,
    private readonly log: Log,
  ) {}

  /** Reads changes. Can be called at any time. */
  poll(): Promise<void> {
    this.#again = true
    return (this.#running ??= this.#run().finally(() => {
      this.#running = null
    }))
  }

  /** Sends everything again, after the name server lost its state. */
  refill(): Promise<void> {
    this.#empty = true
    this.#rightsSeen = -1
    return this.poll()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false
      try {
        await this.#sendRights()
        if (this.#empty) await this.#sendAll()
        await this.#sendChanges()
      } catch (error) {
        // The next run continues from here.
        this.log.warn({ err: error }, 'could not send changed zones to the name server')
      }
    }
  }

  async #sendRights(): Promise<void> {
    const number = await this.source.rightsVersion()
    if (number === this.#rightsSeen) return
    this.server.grant(await this.source.rights())
    this.#rightsSeen = number
  }

  async #sendAll(): Promise<void> {
    this.#empty = false
    try {
      // Later changes have higher numbers and are read afterwards.
      this.#seen = await this.source.lastChange()
      const served = new Map<string, SentZone>()
      for (const { id } of await this.source.list()) {
        // The server restarted meanwhile.
        if (this.#stopped || this.#empty) return
        const zone = await this.source.read(id)
        if (zone) served.set(id, await this.#put(id, zone, this.#seen))
      }
      if (this.#empty) return
      this.#removeOthers(served)
      this.server.complete()
    } catch (error) {
      this.#empty = true
      throw error
    }
  }

  /** Removes zones that were sent earlier. The changes that removed them may not have been read. */
  #removeOthers(served: ReadonlyMap<string, SentZone>): void {
    const keyOf = ({ name, hidden }: SentZone) => `${hidden} ${name}`
    const kept = new Set([...served.values()].map(keyOf))
    for (const [id, zone] of this.#sent) {
      if (served.has(id)) continue
      this.#sent.delete(id)
      if (!kept.has(keyOf(zone))) this.server.remove(zone.name, zone.hidden)
    }
  }

  async #sendChanges(): Promise<void> {
    for (;;) {
      const changes = await this.source.changesAfter(this.#seen)
      for (const change of changes) {
        if (this.#stopped || this.#empty) return
        await this.#apply(change)
        this.#seen = change.number
      }
      if (changes.length === 0) return
    }
  }

  async #apply({ id, name, number, wholeNumber, hidden }: ZoneChange): Promise<void> {
    const sent = this.#sent.get(id)
    if (sent && wholeNumber <= sent.number && sent.changes < sent.maxChanges) {
      const changes = await this.source.readChanges(id, sent.number)
      if (!changes) return this.#remove(id, name, hidden)
      this.server.change(changes)
      this.#sent.set(id, { ...sent, number, changes: sent.changes + changes.rrsets.length })
      return
    }
    const zone = await this.source.read(id)
    if (zone) await this.#put(id, zone, number)
    else this.#remove(id, name, hidden)
  }

  #remove(id: string, name: string, hidden?: boolean): void {
    this.#sent.delete(id)
    this.server.remove(name, hidden)
  }

  async #put(id: string, zone: ServedZone | PackedZone, number: number): Promise<SentZone> {
    await this.server.put(zone)
    const size = 'packed' in zone ? zone.packed.names : zone.rrsets.length
    const maxChanges = Math.max(minChanges, size * changesShare)
    const sent = { name: zone.name, hidden: zone.hidden ?? false, number, changes: 0, maxChanges }
    this.#sent.set(id, sent)
    return sent
  }
}
