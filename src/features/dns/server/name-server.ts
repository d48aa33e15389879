import type { Clock } from '../../../core/clock'
import type { Log } from '../../../core/log'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { DnsFormatError } from '../../../dns/format-error'
import type { Counts, HubRequest, HubResponses, ListenOptions, ToServer, Transferred } from './messages'
import { ZonePacker, type PackedZone } from './packed-zone'
import type { ServedSet, ServedZone } from './served-zone'
import { ServerThread } from './server-thread'
import type { TransferRights } from './transfer-keys'

/** What the name server needs from its owner. */
interface NameServerContext {
  /** Entry file of its threads (`src/bin/name-server.ts`). */
  entry: string
  clock: Clock
  log: Log
  onCounts(counts: Counts): void
  /** Handles requests of the threads. Without it, transfers are always full, and NOTIFY messages have no effect. */
  onRequest?(question: HubRequest): Promise<HubResponses[HubRequest['kind']]>
  onTransferred?(transfer: Transferred): void
  /** Called when a thread has no zones: at the start, and after a crash. Everything must be sent again. */
  onEmpty(): void
}

/** The hub's side of the name server: sends zones to its threads, which all have the same ones and share the port. */
export class NameServer {
  readonly #threads: ServerThread[]

  /** @param options for all threads together @param threads number of threads */
  constructor(
    options: Omit<ListenOptions, 'isShared' | 'isFirst'>,
    private readonly context: NameServerContext,
    threads = 1,
  ) {
    const { responsesPerSecond } = options
    // The system distributes clients by their address and port.
    const limit = responsesPerSecond === null ? null : Math.ceil(responsesPerSecond / threads)
    this.#threads = Array.from(
      { length: threads },
      (_, index) =>
        new ServerThread(
          { ...options, responsesPerSecond: limit, isShared: threads > 1, isFirst: index === 0 },
          { ...context, onRestarted: () => context.onEmpty() },
        ),
    )
  }

  /** Listen address, once it listens. */
  get address(): { host: string; port: number } | null {
    return this.#threads[0]!.address
  }

  /** Starts the threads and opens the port. @throws InvalidSetting if the port can't be opened */
  async start(): Promise<void> {
    try {
      for (const thread of this.#threads) {
        thread.address ??= this.address
        await thread.start()
      }
    } catch (error) {
      await this.stop()
      throw error
    }
    this.context.onEmpty()
  }

  /** Serves a zone, or replaces it. */
  async put(zone: ServedZone | PackedZone): Promise<void> {
    try {
      this.#post({
        kind: 'zone',
        zone: 'packed' in zone ? { ...zone, changes: zone.changes.map(withOwnOctets) } : await packed(zone),
      })
    } catch (error) {
      if (!(error instanceof DnsFormatError)) throw error
      this.context.log.error({ zone: zone.name, reason: error.message }, 'zone is invalid and can’t be served')
    }
  }

  /** Replaces RRsets of a zone, or removes those without rdata, at once. */
  change({ name, rrsets }: ServedZone): void {
    this.#post({ kind: 'change', name, rrsets: rrsets.map(withOwnOctets) })
  }

  /** @param hidden whether the zone is visible only with its keys */
  remove(name: string, hidden = false): void {
    this.#post({ kind: 'remove', name, hidden })
  }

  /** Replaces all keys and transfer rights. */
  grant(rights: TransferRights): void {
    this.#post({ kind: 'rights', rights })
  }

  /** All zones have been sent: queries for other zones are refused from now on. */
  complete(): void {
    this.#post({ kind: 'complete' })
  }

  /** Resolves when all threads have processed all previous messages, or have ended. */
  async synced(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.synced()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map(thread => thread.stop()))
  }

  #post(message: ToServer): void {
    for (const thread of this.#threads) thread.post(message)
  }
}

async function packed({ name, owner = '', hidden = false, rrsets }: ServedZone): Promise<PackedZone> {
  const packer = new ZonePacker(name)
  for (const set of rrsets) {
    packer.addSet(set)
    if (isTurnOver()) await yieldToEventLoop()
  }
  return { name, owner, hidden, packed: packer.finish(), changes: [] }
}

/** Copies octets: posting a view would transfer its whole buffer. */
const withOwnOctets = (set: ServedSet): ServedSet => ({ ...set, rdata: set.rdata.map(octets => Uint8Array.from(octets)) })
