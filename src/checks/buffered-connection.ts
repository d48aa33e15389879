import type { Socket } from 'node:net'
import { isTurnOver, yieldToEventLoop } from '../core/time-slices'
import type { Attempt } from './attempt'
import { CheckFailed, connectFailure } from './connect-failure'
import { upgradeToTls, type TlsSettings } from './connect'

/**
 * Reads lines and bytes from a connection, up to a limit; exceeding it fails the check. Records `first_byte` from the last write before
 * the first byte arrived, or from the connection.
 */
export class BufferedConnection {
  private unread = Buffer.alloc(0)
  private readonly chunks: Buffer[] = []
  private length = 0
  private lines = 0
  private end: CheckFailed | null = null
  private wake = () => {}
  private since: number
  private receivedAny = false
  private detach = () => {}

  /** @param limit maximum number of bytes to read, before and under TLS together */
  constructor(
    private readonly attempt: Attempt,
    private socket: Socket,
    private readonly limit: number,
  ) {
    this.since = attempt.context.now()
    this.listen()
  }

  /** Everything received so far. Invalid UTF-8 shows as replacement characters. */
  get received(): string {
    return textIn(Buffer.concat(this.chunks))
  }

  get hasReceived(): boolean {
    return this.receivedAny
  }

  /** The local IP address. */
  get localAddress(): string {
    return this.socket.localAddress ?? ''
  }

  send(what: string | Uint8Array): void {
    if (!this.receivedAny) this.since = this.attempt.context.now()
    this.socket.write(what)
  }

  /**
   * The next line, without its terminator.
   * @param awaited for the timeout message, see {@link Attempt.within}
   * @throws CheckFailed
   */
  async readLine(awaited: string): Promise<string> {
    for (;;) {
      await this.pause()
      const line = this.takeLine()
      if (line !== null) return line
      if (this.end) throw this.end
      await this.more(awaited)
    }
  }

  /**
   * Skips lines until one matches. A prompt without a line end also counts, once nothing follows it for a moment.
   * @throws CheckFailed
   */
  async waitForLine(matches: (line: string) => boolean, awaited: string): Promise<void> {
    for (;;) {
      for (let line = this.takeLine(); line !== null; line = this.takeLine()) {
        if (matches(line)) return
        await this.pause()
      }
      const prompt = this.unread.length > 0
      if (!this.end && (await this.more(awaited, prompt ? promptMs : undefined))) continue
      if (prompt && matches(textIn(this.unread))) {
        this.unread = Buffer.alloc(0)
        return
      }
      if (this.end) throw this.end
      await this.more(awaited)
    }
  }

  /** The next `count` bytes. @throws CheckFailed */
  async readBytes(count: number, awaited: string): Promise<Buffer> {
    await this.pause()
    while (this.unread.length < count) {
      if (this.end) throw this.end
      await this.more(awaited)
    }
    const octets = this.unread.subarray(0, count)
    this.unread = this.unread.subarray(count)
    return octets
  }

  /** Everything up to and including a text. @throws CheckFailed */
  async readThrough(end: string, awaited: string): Promise<string> {
    for (let from = 0; ;) {
      const at = this.unread.indexOf(end, from)
      if (at >= 0) return textIn(await this.readBytes(at + end.length, awaited))
      from = Math.max(0, this.unread.length - end.length)
      if (this.end) throw this.end
      await this.more(awaited)
    }
  }

  /** Upgrades to TLS. @throws CheckFailed */
  async startTls(settings: TlsSettings): Promise<void> {
    this.socket = await upgradeToTls(this.attempt, this.release(), settings)
    this.listen()
  }

  /**
   * Stops reading, and returns the connection for TLS. Plain text received after the server agreed to TLS is rejected: an attacker in
   * between could have injected it (RFC 3207 section 6, RFC 9051 section 11.1).
   * @throws CheckFailed
   */
  release(): Socket {
    if (this.unread.length > 0) throw new CheckFailed('protocol', 'the server continued in plain text after agreeing to TLS')
    if (this.end) throw this.end
    this.detach()
    return this.socket
  }

  /** Waits briefly for the server to close the connection. The wait does not count toward the latency. */
  async waitForClose(): Promise<void> {
    this.attempt.respondedAt = this.attempt.context.now()
    for (const until = this.attempt.context.now() + closeWaitMs; !this.end && this.attempt.context.now() < until;) {
      if (this.attempt.context.signal.aborted) return
      this.unread = Buffer.alloc(0)
      await this.more('the end of the connection', closeWaitMs)
    }
  }

  private listen(): void {
    const { socket } = this
    const onData = (octets: Buffer) => this.receive(octets)
    const onError = (error: unknown) => this.finish(connectFailure(error, 'established'))
    const onEnd = () => this.finish(connectFailure({ code: 'ECONNRESET' }, 'established'))
    socket.on('data', onData).on('error', onError).on('end', onEnd).on('close', onEnd)
    this.detach = () => {
      socket.pause()
      socket.off('data', onData).off('end', onEnd).off('close', onEnd)
    }
  }

  private receive(octets: Buffer): void {
    if (!this.receivedAny) this.attempt.addToPhase('first_byte', this.since)
    this.receivedAny = true
    if (this.end) return
    this.chunks.push(octets.subarray(0, this.limit - this.length))
    this.length += octets.length
    this.unread = Buffer.concat([this.unread, octets])
    if (this.length > this.limit) {
      this.socket.pause()
      this.finish(new CheckFailed('protocol', `the server sent more than ${this.limit} bytes`))
    }
    this.wake()
  }

  private finish(failure: CheckFailed): void {
    this.end ??= failure
    this.wake()
  }

  /** Lets other checks run while this one processes a lot of received data. */
  private async pause(): Promise<void> {
    if (isTurnOver()) await this.attempt.within(yieldToEventLoop(), 'other checks')
  }

  /** @throws CheckFailed if there were too many */
  private takeLine(): string | null {
    const end = this.unread.indexOf(10)
    if (end < 0) return null
    if (++this.lines > maxLines) throw new CheckFailed('protocol', `the server sent more than ${maxLines} lines`)
    const line = this.unread.subarray(0, end > 0 && this.unread[end - 1] === 13 ? end - 1 : end)
    this.unread = this.unread.subarray(end + 1)
    return textIn(line)
  }

  /** Waits for more data or for the end. @returns false if nothing arrived for `quietMs` */
  private async more(awaited: string, quietMs?: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.wake = () => resolve(true)
    const timer = quietMs === undefined ? undefined : setTimeout(() => resolve(false), quietMs)
    try {
      return await this.attempt.within(promise, awaited)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Text from a server as a JSON string: on one line and shortened for messages. */
export const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

// Short lines would take seconds within the limit of bytes.
const maxLines = 50_000
const promptMs = 100
const closeWaitMs = 500

const utf8 = new TextDecoder()
const textIn = (octets: Uint8Array): string => utf8.decode(octets)
