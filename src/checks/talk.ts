import type { Socket } from 'node:net'
import type { Attempt } from './attempt'
import { CheckFailed, connectFailure } from './connect-failure'
import { upgradeToTls, type TlsWish } from './tls-connect'

/**
 * What is said on a connection, in lines or octets. No more than the limit is read; what comes beyond it ends the check. The first octet
 * that comes is written down as `first_byte`, from the last thing that was sent before it, or from the connection.
 */
export class Talk {
  private unread = Buffer.alloc(0)
  private readonly read: Buffer[] = []
  private length = 0
  private over: CheckFailed | null = null
  private wake = () => {}
  private since: number
  private heard = false
  private hush = () => {}

  /** @param limit octets that are read at most, those under TLS and those before it together */
  constructor(
    private readonly attempt: Attempt,
    private socket: Socket,
    private readonly limit: number,
  ) {
    this.since = attempt.around.now()
    this.listen()
  }

  /** Everything that has come so far. What is no UTF-8 shows as replacement characters. */
  get text(): string {
    return textIn(Buffer.concat(this.read))
  }

  get hasHeard(): boolean {
    return this.heard
  }

  /** The address of this end. */
  get ownAddress(): string {
    return this.socket.localAddress ?? ''
  }

  send(what: string | Uint8Array): void {
    if (!this.heard) this.since = this.attempt.around.now()
    this.socket.write(what)
  }

  /**
   * The next line, without its end.
   * @param late what did not happen in time, as {@link Attempt.within} takes it
   * @throws CheckFailed
   */
  async line(late: string): Promise<string> {
    for (;;) {
      const line = this.cutLine()
      if (line !== null) return line
      if (this.over) throw this.over
      await this.more(late)
    }
  }

  /**
   * Passes lines over until one fits. A prompt without an end is one too, once nothing follows it for a moment.
   * @throws CheckFailed
   */
  async lineThat(fits: (line: string) => boolean, late: string): Promise<void> {
    for (;;) {
      for (let line = this.cutLine(); line !== null; line = this.cutLine()) if (fits(line)) return
      const prompt = this.unread.length > 0
      if (!this.over && (await this.more(late, prompt ? promptMs : undefined))) continue
      if (prompt && fits(textIn(this.unread))) {
        this.unread = Buffer.alloc(0)
        return
      }
      if (this.over) throw this.over
      await this.more(late)
    }
  }

  /** So many octets. @throws CheckFailed */
  async octets(count: number, late: string): Promise<Buffer> {
    while (this.unread.length < count) {
      if (this.over) throw this.over
      await this.more(late)
    }
    const octets = this.unread.subarray(0, count)
    this.unread = this.unread.subarray(count)
    return octets
  }

  /**
   * Goes on under TLS. What came in plain text after the server agreed to it is not trusted: whoever sits between could have put it
   * there (RFC 3207 section 6, RFC 9051 section 11.1).
   * @throws CheckFailed
   */
  async secure(wish: TlsWish): Promise<void> {
    if (this.unread.length > 0) throw new CheckFailed('protocol', 'the server went on in plain text after it agreed to TLS')
    if (this.over) throw this.over
    this.hush()
    this.socket = await upgradeToTls(this.attempt, this.socket, wish)
    this.listen()
  }

  /** Waits for the server to hang up, a moment at most. That is politeness, and no part of the time that the target took. */
  async ending(): Promise<void> {
    this.attempt.answeredAt = this.attempt.around.now()
    for (const until = this.attempt.around.now() + goodbyeMs; !this.over && this.attempt.around.now() < until;) {
      if (this.attempt.around.signal.aborted) return
      this.unread = Buffer.alloc(0)
      await this.more('no end', goodbyeMs)
    }
  }

  private listen(): void {
    const { socket } = this
    const onData = (octets: Buffer) => this.take(octets)
    const onError = (error: unknown) => this.finish(connectFailure(error, 'talking'))
    const onEnd = () => this.finish(connectFailure({ code: 'ECONNRESET' }, 'talking'))
    socket.on('data', onData).on('error', onError).on('end', onEnd).on('close', onEnd)
    this.hush = () => {
      socket.pause()
      socket.off('data', onData).off('end', onEnd).off('close', onEnd)
    }
  }

  private take(octets: Buffer): void {
    if (!this.heard) this.attempt.spent('first_byte', this.since)
    this.heard = true
    if (this.over) return
    this.read.push(octets.subarray(0, this.limit - this.length))
    this.length += octets.length
    this.unread = Buffer.concat([this.unread, octets])
    if (this.length > this.limit) {
      this.socket.pause()
      this.finish(new CheckFailed('protocol', `the server sent more than ${this.limit} octets`))
    }
    this.wake()
  }

  private finish(failure: CheckFailed): void {
    this.over ??= failure
    this.wake()
  }

  private cutLine(): string | null {
    const end = this.unread.indexOf(10)
    if (end < 0) return null
    const line = this.unread.subarray(0, end > 0 && this.unread[end - 1] === 13 ? end - 1 : end)
    this.unread = this.unread.subarray(end + 1)
    return textIn(line)
  }

  /** Waits for more, or for the end. @returns false when nothing came for so long */
  private async more(late: string, quietMs?: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.wake = () => resolve(true)
    const timer = quietMs === undefined ? undefined : setTimeout(() => resolve(false), quietMs)
    try {
      return await this.attempt.within(promise, late)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Text as a server sent it, on one line and short enough for people: in quotes. */
export const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

const promptMs = 100
const goodbyeMs = 500

const textIn = (octets: Uint8Array): string => new TextDecoder().decode(octets)
