import type { Socket } from 'node:net'
import type { VettedHost } from '../../core/net/egress'
import { withAttempt, type Attempt } from '../attempt'
import { BufferedConnection } from '../buffered-connection'
import type { CheckContext } from '../check'
import { connectVetted } from '../connect'
import { CheckFailed, connectFailure } from '../connect-failure'
import { exchangeDirectly, type AnswerReader } from './direct-exchange'
import type { ScanPhase, ScanProtocol } from './facts'
import { TlsFormatError } from './format-error'
import { farewell } from './hello'
import { maxPlainBytes, upgrades } from './starttls'

/** The server to scan: one address of a host. */
export interface ScanTarget {
  /** Vetted right before the scan, which connects to this address only. */
  vetted: VettedHost
  protocol: ScanProtocol
  /** The name to send in SNI; null if the host is an IP address. */
  servername: string | null
}

/** What a scan may use. Unlike a check, it resolves no names: it only connects to its target. */
export type ScanContext = Pick<CheckContext, 'now' | 'wallNow' | 'signal'>

/** How long things may take, in milliseconds. */
export interface ScanLimits {
  /** A connection, from connecting to the server's answer. */
  connectionMs: number
  /** The whole scan of an address. */
  scanMs: number
}
export const scanLimits: ScanLimits = { connectionMs: 4000, scanMs: 25_000 }

/** How many connections of a scan may be open at once. */
const maxOpen = 2
/** How many connections a scan may open: a server with all suites in all versions needs fewer. */
const maxConnections = 600

/** Thrown where a connection failed. */
export class ExchangeFailed extends Error {
  override readonly name = 'ExchangeFailed'
  constructor(
    /** `connect` and `starttls` concern every further connection too. */
    readonly phase: ScanPhase | null,
    readonly failure: CheckFailed,
  ) {
    super(failure.message)
  }
}

/** Opens the connections of one scan: at most two at once, each within its limit. */
export class Exchanges {
  /** How many connections were opened so far. */
  count = 0
  #open = 0
  /** Whether the last connection was opened. */
  #isReachable = false
  readonly #waiting: (() => void)[] = []

  constructor(
    readonly target: ScanTarget,
    private readonly context: ScanContext,
    private readonly limits: ScanLimits,
  ) {}

  /**
   * Sends a message and reads the server's answer.
   * @returns `closed` if the server closes the connection without an answer
   * @throws ExchangeFailed
   */
  async ask<A>(message: Uint8Array, reader: AnswerReader<A>): Promise<A | 'closed'> {
    const { protocol, vetted } = this.target
    // Not for a server that may be unreachable: such connections can’t be closed.
    if (protocol === 'tls' && this.#isReachable)
      return await this.#inTurn((signal, reached) =>
        exchangeDirectly(vetted, { message, reader, signal, onOpen: () => reached(null) }),
      )
    return await this.connected(async (attempt, socket) => {
      const answer = attempt.within(answerOf(socket, reader), 'the response to a ClientHello')
      socket.write(message)
      const received = await answer
      // Servers do not wait for the rest of a handshake then.
      if (!socket.destroyed) socket.write(farewell)
      return received
    })
  }

  /** Calls `use` with a connection on which TLS can start. @throws ExchangeFailed */
  async connected<T>(use: (attempt: Attempt, socket: Socket) => Promise<T>): Promise<T> {
    return await this.#inTurn((signal, reached) =>
      withAttempt({ ...this.context, ...noNames, signal }, async attempt => {
        const plain = await connectVetted(attempt, this.target.vetted)
        reached('starttls')
        const socket = await this.#upgraded(attempt, plain)
        reached(null)
        return await use(attempt, socket)
      }),
    )
  }

  /** @param run opens a connection, and calls `reached` with what it does afterwards @throws ExchangeFailed */
  async #inTurn<T>(run: (signal: AbortSignal, reached: (phase: ScanPhase | null) => void) => Promise<T>): Promise<T> {
    if (this.#open >= maxOpen) await new Promise<void>(resolve => this.#waiting.push(resolve))
    this.#open++
    try {
      return await this.#limited(run)
    } finally {
      this.#open--
      this.#waiting.shift()?.()
    }
  }

  async #limited<T>(run: (signal: AbortSignal, reached: (phase: ScanPhase | null) => void) => Promise<T>): Promise<T> {
    const { context } = this
    if (context.signal.aborted) throw new ExchangeFailed(null, new CheckFailed('timeout', 'the scan took too long'))
    if (this.count >= maxConnections)
      throw new ExchangeFailed(null, new CheckFailed('protocol', `the scan needs more than ${maxConnections} connections`))
    this.count++
    let phase: ScanPhase | null = 'connect'
    const limit = new AbortController()
    const stop = () => limit.abort()
    const timer = setTimeout(stop, this.limits.connectionMs)
    if (context.signal.aborted) stop()
    context.signal.addEventListener('abort', stop, { once: true })
    try {
      return await run(limit.signal, reached => (phase = reached))
    } catch (error) {
      throw error instanceof ExchangeFailed ? error : new ExchangeFailed(phase, failureOf(error))
    } finally {
      this.#isReachable = phase !== 'connect'
      clearTimeout(timer)
      context.signal.removeEventListener('abort', stop)
    }
  }

  async #upgraded(attempt: Attempt, socket: Socket): Promise<Socket> {
    const { protocol, vetted } = this.target
    if (protocol === 'tls') return socket
    const connection = new BufferedConnection(attempt, socket, maxPlainBytes)
    await upgrades[protocol](connection, vetted)
    return connection.release()
  }
}

const noNames: Pick<CheckContext, 'vet' | 'resolvers'> = {
  vet: () => Promise.reject(new TypeError('Scans connect to vetted addresses only.')),
  resolvers: () => [],
}

function failureOf(error: unknown): CheckFailed {
  if (error instanceof TlsFormatError) return new CheckFailed('protocol', `the server ${error.message}`)
  return connectFailure(error, 'handshake')
}

/** Waits for the answer, or the end of the connection. Later octets are ignored. */
function answerOf<A>(socket: Socket, reader: AnswerReader<A>): Promise<A | 'closed'> {
  return new Promise((resolve, reject) => {
    const closed = () => resolve('closed')
    const read = (octets: Uint8Array) => {
      try {
        const answer = reader.push(octets)
        if (answer === null) return
        resolve(answer)
      } catch (error) {
        reject(error)
      }
      socket.off('data', read).resume()
    }
    socket.on('data', read).on('error', closed).on('end', closed).on('close', closed).resume()
  })
}
