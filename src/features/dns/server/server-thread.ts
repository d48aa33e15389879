import type { Clock, Timer } from '../../../core/clock'
import { InvalidSetting } from '../../../core/config'
import type { Log } from '../../../core/log'
import { startThread, type Thread } from '../../../core/thread'
import type { Counts, FromServer, HubResponses, HubRequest, ListenOptions, ToServer, Transferred } from './messages'

/** What a thread needs from its owner. */
interface ServerThreadContext {
  /** Entry file of the thread (`src/bin/name-server.ts`). */
  entry: string
  clock: Clock
  log: Log
  onCounts(counts: Counts): void
  /** Handles requests of the thread. Without it, transfers are always full, and NOTIFY messages have no effect. */
  onRequest?(question: HubRequest): Promise<HubResponses[HubRequest['kind']]>
  onTransferred?(transfer: Transferred): void
  /** Called after a crash, when the thread runs again, without zones. */
  onRestarted(): void
}

const restartAfterMs = 1000

/** The hub's side of a thread of the name server. Restarts it after a crash. */
export class ServerThread {
  #thread: Thread<ToServer> | null = null
  #stopped = false
  #restart: Timer | null = null
  #echo = 0
  readonly #echoes = new Map<number, () => void>()
  /** Listen address, once it listens. */
  address: { host: string; port: number } | null = null

  constructor(
    private readonly options: ListenOptions,
    private readonly context: ServerThreadContext,
  ) {}

  /** Starts the thread and opens the port. @throws InvalidSetting if the port can't be opened */
  async start(): Promise<void> {
    // The other threads may still have the port open after a crash of this one.
    const options = { ...this.options, ...this.address, isFirst: this.options.isFirst && !this.address }
    const found = Promise.withResolvers<FromServer & { kind: 'listening' | 'refused' }>()
    const thread: Thread<ToServer> = startThread<ToServer, FromServer>(this.context.entry, {
      message: message => {
        if (message.kind === 'listening' || message.kind === 'refused') found.resolve(message)
        else this.#onMessage(message, thread)
      },
      failed: reason => this.context.log.error({ reason }, 'name server thread failed'),
      ended: () => {
        found.resolve({ kind: 'refused', code: '', reason: 'its thread exited' })
        for (const resolve of this.#echoes.values()) resolve()
        if (this.#thread === thread && this.address) this.#died()
      },
    })
    this.#thread = thread
    this.post({ kind: 'listen', options })
    const answer = await found.promise
    if (answer.kind === 'refused') {
      if (this.#thread === thread) this.#thread = null
      thread.terminate()
      throw new InvalidSetting(refusedText(options, answer))
    }
    this.address = { host: answer.host, port: answer.port }
  }

  /** Messages are lost while the thread doesn't run; it requests everything again. */
  post(message: ToServer): void {
    this.#thread?.post(message)
  }

  /** Resolves when the thread has processed all previous messages, or has ended. */
  async synced(): Promise<void> {
    if (!this.#thread) return
    const id = ++this.#echo
    await new Promise<void>(resolve => {
      this.#echoes.set(id, resolve)
      this.post({ kind: 'echo', id })
    })
    this.#echoes.delete(id)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#restart?.cancel()
    const thread = this.#thread
    if (!thread) return
    await thread.stop({ kind: 'stop' })
    this.#thread = null
  }

  #onMessage(message: FromServer, from: Thread<ToServer>): void {
    if (message.kind === 'counts') this.context.onCounts(message.counts)
    else if (message.kind === 'echo') this.#echoes.get(message.id)?.()
    else if (message.kind === 'request') void this.#answer(message.id, message.question, from)
    else if (message.kind === 'transferred') this.context.onTransferred?.(message.transfer)
    else if (message.kind === 'invalid_zone')
      this.context.log.error({ zone: message.name, reason: message.reason }, 'zone is invalid and can’t be served')
  }

  async #answer(id: number, question: HubRequest, to: Thread<ToServer>): Promise<void> {
    // A restarted thread reuses request ids.
    const post = (answer: unknown) => to === this.#thread && this.post({ kind: 'answer', id, answer })
    try {
      post(await this.context.onRequest?.(question))
    } catch (error) {
      post(undefined)
      this.context.log.warn({ err: error, zone: question.zone }, 'could not handle a request of the name server thread')
    }
  }

  #died(): void {
    this.#thread = null
    if (this.#stopped) return
    this.context.log.error({}, 'name server thread exited; restarting it')
    this.#startLater()
  }

  #startLater(): void {
    // A thread that exits while it starts is reported twice.
    this.#restart?.cancel()
    if (!this.#stopped) this.#restart = this.context.clock.after(restartAfterMs, () => void this.#startAgain())
  }

  async #startAgain(): Promise<void> {
    if (this.#thread) return
    try {
      await this.start()
      this.context.onRestarted()
      this.context.log.info(this.address!, 'name server restarted')
    } catch (error) {
      this.context.log.error({ err: error }, 'could not restart the name server; retrying')
      this.#startLater()
    }
  }
}

function refusedText({ setting, host, port }: ListenOptions, { code, reason }: { code: string; reason: string }): string {
  const other = 'Choose another address with HOST:PORT, or set it to off.'
  if (code === 'EADDRINUSE')
    return `${setting}: port ${port} is already in use on ${host}. Stop the service that uses it. ${other}`
  if (code === 'EACCES') return `${setting}: permission denied for port ${port}. Grant the program CAP_NET_BIND_SERVICE. ${other}`
  return `${setting}: can’t listen on ${host} port ${port} (${reason}). ${other}`
}
