import type { TLSSocket } from 'node:tls'
import { fingerprintAdvice } from '../../../../adapters/presented-certificate'
import type { Clock, Timer } from '../../../../core/clock'
import { EgressRefused, type VettedHost } from '../../../../core/net/egress'
import { failureOf, isCertificateFailure } from '../../../../core/net/fetch-failure'
import { fingerprintOf, openTls } from '../../../../core/net/pinned-fetch'
import { PinMismatch } from '../../../../core/net/pin-mismatch'
import { lifetime } from '../../../../core/net/request-lifetime'
import { sha256Hex } from '../../../../core/sha256'
import { RegistrarError, type AdapterContext } from '../../registrar'
import { commandMessage, helloMessage, loginCommand, logoutCommand, type EppCommand } from './commands'
import { FrameError, FrameReader, frameOf } from './frames'
import { greetingOf, responseOf, type EppGreeting, type EppResponse } from './responses'

/** How to reach a server, and how to log in. */
export interface EppAccess {
  host: string
  port: number
  /** Fingerprint of its certificate; undefined if a public CA issued it. */
  pin: string | undefined
  clientCertificate: { cert: string; key: string } | undefined
  user: string
  password: string
  /** Replaces the password, unless it has already. */
  newPassword: string | undefined
}

const connectMs = 15_000
/** How long a command waits for its response. */
const commandMs = 30_000
/** How long a session is kept for further calls. Most registries end sessions after some minutes without commands. */
const idleMs = 10_000
const logoutMs = 2000

/** A session in which commands are sent one after another (RFC 5730 section 2). */
export class EppSession {
  readonly #reader = new FrameReader()
  readonly #messages: string[] = []
  #wake: (() => void) | null = null
  #failure: RegistrarError | null = null
  #sent = 0
  readonly #name = crypto.randomUUID().slice(0, 8)

  private constructor(
    private readonly socket: TLSSocket,
    private readonly access: EppAccess,
    private readonly clock: Clock,
  ) {
    const fail = (error: RegistrarError) => {
      this.#failure ??= error
      this.#wake?.()
    }
    socket.on('data', (received: Buffer) => {
      try {
        this.#messages.push(...this.#reader.push(received))
        // Only one response is ever expected.
        if (this.#messages.length > 1) throw new FrameError('The server sent more messages than commands.')
        this.#wake?.()
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        fail(new RegistrarError('invalid_response', error.message))
        socket.destroy()
      }
    })
    const close = () => fail(closedError(this.#reader.isPartial))
    socket.on('error', close)
    socket.once('close', close)
  }

  /** Connects and logs in. @throws RegistrarError with `sent` false */
  static async open(
    vetted: VettedHost,
    access: EppAccess,
    clock: Clock,
  ): Promise<{ session: EppSession; greeting: EppGreeting }> {
    try {
      const session = new EppSession(await connected(vetted, access, clock), access, clock)
      try {
        const greeting = greetingOf(await session.#receive())
        await session.#login(greeting)
        return { session, greeting }
      } catch (error) {
        session.end()
        throw error
      }
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error
      const { failure, message, retryAfterMs, vendorCode } = error
      throw new RegistrarError(failure, message, { sent: false, retryAfterMs, vendorCode })
    }
  }

  /** Sends a command, and waits for its response. @throws RegistrarError */
  async send(command: EppCommand): Promise<EppResponse> {
    const id = `BW-${this.#name}-${++this.#sent}`
    return responseOf(await this.#exchange(commandMessage(command, id)), id, this.#secrets())
  }

  /** Whether the server still responds. */
  async isAlive(): Promise<boolean> {
    try {
      greetingOf(await this.#exchange(helloMessage))
      return true
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error
      return false
    }
  }

  /** Logs out, within a short time: the server may limit the number of sessions. */
  async logOut(): Promise<void> {
    const timer = this.clock.after(logoutMs, () => this.end())
    try {
      await this.send(logoutCommand)
    } catch (error) {
      if (!(error instanceof RegistrarError)) throw error
    } finally {
      timer.cancel()
      this.end()
    }
  }

  end(): void {
    this.socket.destroy()
  }

  /** Whether the process may exit while the session is open. */
  set isIdle(isIdle: boolean) {
    if (isIdle) this.socket.unref()
    else this.socket.ref()
  }

  async #login(greeting: EppGreeting): Promise<void> {
    const { user, password, newPassword } = this.access
    if (newPassword !== undefined) {
      try {
        // It may have been set by an earlier login.
        await this.send(loginCommand({ user, password: newPassword }, greeting))
        return
      } catch (error) {
        if (!(error instanceof RegistrarError) || error.vendorCode !== '2200') throw error
      }
    }
    await this.send(loginCommand({ user, password, newPassword }, greeting))
  }

  async #exchange(message: string): Promise<string> {
    if (this.#messages.length > 0)
      throw new RegistrarError('invalid_response', 'The EPP server sent a message without a command.')
    if (this.#failure) throw this.#failure
    this.socket.write(frameOf(message))
    return await this.#receive()
  }

  async #receive(): Promise<string> {
    const life = lifetime(undefined)
    const timer = this.clock.after(commandMs, () => life.end('timeout', 'The EPP server did not respond in time.'))
    try {
      while (this.#messages.length === 0) {
        if (this.#failure) throw this.#failure
        await life.orEnd(new Promise<void>(resolve => (this.#wake = resolve)))
      }
      return this.#messages.shift()!
    } catch (error) {
      if (!life.reason) throw error
      // Otherwise, a late response would be read as the response to the next command.
      this.end()
      throw new RegistrarError('timeout', life.reason.message)
    } finally {
      this.#wake = null
      timer.cancel()
      life.release()
    }
  }

  #secrets(): string[] {
    return [this.access.password, this.access.newPassword].filter(one => one !== undefined)
  }
}

interface KeptSession {
  session: EppSession
  greeting: EppGreeting
}

/** What this process does at a server with one login. Registries limit the number of sessions (result code 2502), so it has only one. */
interface Desk {
  /** Ends when all calls so far have. */
  last: Promise<unknown>
  /** Calls that have not ended. */
  calls: number
  kept: KeptSession | null
  /** Ends the session if no call follows. */
  timer: Timer | null
}

const desks = new Map<string, Desk>()
/** With the credentials, so that others who know only the user don’t end its session. */
const deskKey = (access: EppAccess): string => sha256Hex(JSON.stringify(access))

/**
 * Runs a call in the session of this process at a server, which it opens if there is none. Calls wait for one another.
 * @throws RegistrarError
 */
export async function inEppSession<T>(
  around: AdapterContext,
  access: EppAccess,
  call: (session: EppSession, greeting: EppGreeting) => Promise<T>,
): Promise<T> {
  // Also for a session that is open: the policy may have changed.
  const vetted = await vet(around, access)
  const key = deskKey(access)
  const desk: Desk = desks.get(key) ?? { last: Promise.resolve(), calls: 0, kept: null, timer: null }
  desks.set(key, desk)
  desk.calls++
  desk.timer?.cancel()
  const run = desk.last.then(() => atDesk(desk, vetted, access, around.clock, call))
  desk.last = run.catch(() => {})
  try {
    return await run
  } finally {
    if (--desk.calls === 0) desk.timer = around.clock.after(idleMs, () => void endEppSession(access))
  }
}

/** Ends the session of this process at a server, unless there are calls. */
export async function endEppSession(access: EppAccess): Promise<void> {
  const desk = desks.get(deskKey(access))
  if (!desk || desk.calls > 0) return
  desk.timer?.cancel()
  const kept = desk.kept
  desk.kept = null
  // Calls that come meanwhile wait, so that there are never two sessions.
  desk.last = desk.last.then(() => kept?.session.logOut())
  await desk.last
  if (desk.calls === 0 && desk.kept === null) desks.delete(deskKey(access))
}

async function atDesk<T>(
  desk: Desk,
  vetted: VettedHost,
  access: EppAccess,
  clock: Clock,
  call: (session: EppSession, greeting: EppGreeting) => Promise<T>,
): Promise<T> {
  const { session, greeting } = await sessionAt(desk, vetted, access, clock)
  session.isIdle = false
  try {
    return await call(session, greeting)
  } catch (error) {
    // After a clear answer of the server, the session is still in order. Codes from 2500 end it (RFC 5730 section 3).
    const code = error instanceof RegistrarError ? error.vendorCode : null
    if (code === null || code >= '2500') {
      session.end()
      desk.kept = null
    }
    throw error
  } finally {
    session.isIdle = true
  }
}

async function sessionAt(desk: Desk, vetted: VettedHost, access: EppAccess, clock: Clock): Promise<KeptSession> {
  const { kept } = desk
  if (kept) {
    if (await kept.session.isAlive()) return kept
    desk.kept = null
    await kept.session.logOut()
  }
  desk.kept = await EppSession.open(vetted, access, clock)
  return desk.kept
}

async function vet(around: AdapterContext, { host, port }: EppAccess): Promise<VettedHost> {
  try {
    return await around.vet(host, port)
  } catch (error) {
    throw error instanceof EgressRefused ? new RegistrarError('unreachable', error.message, { sent: false }) : error
  }
}

async function connected(vetted: VettedHost, { pin, clientCertificate }: EppAccess, clock: Clock): Promise<TLSSocket> {
  const life = lifetime(undefined)
  const timer = clock.after(connectMs, () => life.end('timeout', 'Connecting to the EPP server timed out.'))
  const open = (isVerified: boolean) =>
    openTls(vetted, { signal: life.signal, isVerified, ...(clientCertificate && { clientCertificate }) })
  try {
    const socket = await open(pin === undefined)
    if (pin === undefined) return socket
    const seen = fingerprintOf(socket.getPeerCertificate())
    if (seen === pin) return socket
    socket.destroy()
    throw new RegistrarError('unreachable', new PinMismatch(seen, pin).message)
  } catch (error) {
    if (error instanceof RegistrarError) throw error
    if (life.reason) throw new RegistrarError('timeout', life.reason.message)
    const failed = failureOf(error, 'connecting', true)
    const advice = isCertificateFailure(failed) ? await adviceOn(() => open(false)) : ''
    throw new RegistrarError('unreachable', `${failed.message}${advice}`)
  } finally {
    timer.cancel()
    life.release()
  }
}

/** Reads the fingerprint of a certificate that was rejected, so that a person can compare it. Sends nothing. */
async function adviceOn(open: () => Promise<TLSSocket>): Promise<string> {
  try {
    const socket = await open()
    const seen = fingerprintOf(socket.getPeerCertificate())
    socket.destroy()
    return ` ${fingerprintAdvice(seen)}`
  } catch {
    return ''
  }
}

const closedError = (isPartial: boolean): RegistrarError =>
  isPartial
    ? new RegistrarError('incomplete', 'The EPP server closed the connection in the middle of a message.')
    : new RegistrarError('unreachable', 'The EPP server closed the connection.')
