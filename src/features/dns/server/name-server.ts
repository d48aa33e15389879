import type { Clock, Timer } from '../../../core/clock'
import { BadSetting } from '../../../core/config'
import type { Log } from '../../../core/log'
import { startThread, type Thread } from '../../../core/thread'
import { othersTurn } from '../../../core/turns'
import type { Counts, FromServer, HubAnswers, HubQuestion, ListenWish, ToServer, Transferred } from './messages'
import type { ServedSet, ServedZone } from './served-zone'
import type { TransferRights } from './transfer-keys'

/** What the name server needs of whoever starts it. */
export interface Surroundings {
  /** The file of the thread: an entry point of its own beside the program's (`src/bin/name-server.ts`). */
  entry: string
  clock: Clock
  log: Log
  counted(counts: Counts): void
  /** Answers what the thread cannot know; without it whole zones are sent, and no other server is listened to. */
  answer?(question: HubQuestion): Promise<HubAnswers[HubQuestion['kind']]>
  transferred?(transfer: Transferred): void
  /** Called when a thread begins that has no zones yet: at the start, and after one has died. */
  empty(): void
}

// Sets that are handed over at once; between them the program does other things.
const setsAtOnce = 500
const restartAfterMs = 1000

/** The name server as the hub sees it: a thread that is given zones, and started again should it die. */
export class NameServer {
  #thread: Thread<ToServer> | null = null
  #stopped = false
  #restart: Timer | null = null
  #echo = 0
  readonly #echoes = new Map<number, () => void>()
  /** Where it listens, once it does. */
  address: { host: string; port: number } | null = null

  constructor(
    private readonly wish: ListenWish,
    private readonly around: Surroundings,
  ) {}

  /** Opens the port. @throws BadSetting when it cannot be had */
  async start(): Promise<void> {
    const { host, port } = this.address ?? this.wish
    const found = Promise.withResolvers<FromServer & { kind: 'listening' | 'refused' }>()
    const thread: Thread<ToServer> = startThread<ToServer, FromServer>(this.around.entry, {
      hear: message => {
        if (message.kind === 'listening' || message.kind === 'refused') found.resolve(message)
        else this.#hear(message, thread)
      },
      failed: reason => this.around.log.error({ reason }, 'the thread of the name server failed'),
      ended: () => {
        found.resolve({ kind: 'refused', code: '', reason: 'its thread ended' })
        for (const resolve of this.#echoes.values()) resolve()
        if (this.#thread === thread && this.address) this.#died()
      },
    })
    this.#thread = thread
    this.#post({ kind: 'listen', wish: { ...this.wish, host, port } })
    const answer = await found.promise
    if (answer.kind === 'refused') {
      if (this.#thread === thread) this.#thread = null
      thread.end()
      throw new BadSetting(refusedText(host, port, answer))
    }
    this.address = { host: answer.host, port: answer.port }
    this.around.empty()
  }

  /** Serves the zone as it is now. A long one is handed over piece by piece; nobody is answered from half of it. */
  async put({ name, owner = '', hidden = false, rrsets }: ServedZone): Promise<void> {
    const thread = this.#thread
    // The SOA goes first: pieces without it are no zone, should the first get lost with a thread.
    const sorted = rrsets.toSorted((a, b) => Number(b.type === 'SOA') - Number(a.type === 'SOA'))
    for (let at = 0; ; at += setsAtOnce) {
      const last = at + setsAtOnce >= sorted.length
      if (thread !== this.#thread) return
      this.#post({ kind: 'zone', name, owner, hidden, rrsets: sorted.slice(at, at + setsAtOnce).map(withOwnOctets), last })
      if (last) return
      await othersTurn()
    }
  }

  /** Puts these RRsets in the place of those that the zone had; without rdata they are gone. All are answered from at once. */
  change({ name, rrsets }: ServedZone): void {
    this.#post({ kind: 'change', name, rrsets: rrsets.map(withOwnOctets) })
  }

  /** @param hidden whether it is a zone that only holders of its keys are told of */
  remove(name: string, hidden = false): void {
    this.#post({ kind: 'remove', name, hidden })
  }

  /** These are the keys from now on, and nobody else may transfer anything. */
  grant(rights: TransferRights): void {
    this.#post({ kind: 'rights', rights })
  }

  /** Resolves when the thread answers from all that was handed over before, or is gone. */
  async settled(): Promise<void> {
    if (!this.#thread) return
    const id = ++this.#echo
    await new Promise<void>(resolve => {
      this.#echoes.set(id, resolve)
      this.#post({ kind: 'echo', id })
    })
    this.#echoes.delete(id)
  }

  /** Every zone was put once: what is asked of no zone is refused from now on. */
  complete(): void {
    this.#post({ kind: 'complete' })
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#restart?.cancel()
    const thread = this.#thread
    if (!thread) return
    await thread.stop({ kind: 'stop' })
    this.#thread = null
  }

  #post(message: ToServer): void {
    this.#thread?.post(message)
  }

  #hear(message: FromServer, from: Thread<ToServer>): void {
    if (message.kind === 'counted') this.around.counted(message.counts)
    else if (message.kind === 'echo') this.#echoes.get(message.id)?.()
    else if (message.kind === 'asks') void this.#answer(message.id, message.question, from)
    else if (message.kind === 'transferred') this.around.transferred?.(message.transfer)
    else if (message.kind === 'unfit')
      this.around.log.error({ zone: message.name, reason: message.reason }, 'a zone cannot be served')
  }

  async #answer(id: number, question: HubQuestion, to: Thread<ToServer>): Promise<void> {
    // The thread that comes after one that died numbers its questions anew.
    const post = (answer: unknown) => to === this.#thread && this.#post({ kind: 'answer', id, answer })
    try {
      post(await this.around.answer?.(question))
    } catch (error) {
      post(undefined)
      this.around.log.warn({ err: error, zone: question.zone }, 'a question of the name server could not be answered')
    }
  }

  #died(): void {
    this.#thread = null
    if (this.#stopped) return
    this.around.log.error({}, 'the thread of the name server ended; it is started again')
    this.#restart = this.around.clock.after(restartAfterMs, () => void this.#startAgain())
  }

  async #startAgain(): Promise<void> {
    try {
      await this.start()
      this.around.log.info(this.address!, 'the name server answers again')
    } catch (error) {
      this.around.log.error({ err: error }, 'the name server could not be started again; it is tried once more')
      if (!this.#stopped) this.#restart = this.around.clock.after(restartAfterMs, () => void this.#startAgain())
    }
  }
}

/** Octets that are a view of more would take all of it along. */
const withOwnOctets = (set: ServedSet): ServedSet => ({ ...set, rdata: set.rdata.map(octets => Uint8Array.from(octets)) })

function refusedText(host: string, port: number, { code, reason }: { code: string; reason: string }): string {
  const other = 'Choose another with HOST:PORT, or set it to off.'
  if (code === 'EADDRINUSE') return `BAILIWICK_DNS_LISTEN: port ${port} is in use on ${host}. Stop what uses it. ${other}`
  if (code === 'EACCES')
    return `BAILIWICK_DNS_LISTEN: this user may not listen on port ${port}; give the program CAP_NET_BIND_SERVICE. ${other}`
  return `BAILIWICK_DNS_LISTEN: the name server cannot listen on ${host} port ${port} (${reason}). ${other}`
}
