import { generateKeyPairSync } from 'node:crypto'
import type { Chains } from './chains'
import type { Exchanges } from './exchange'
import type { AddressFacts } from './facts'
import { FlightReader, type ServerFlight } from './flight'
import { groups13, groupsBefore13 } from './groups'
import { clientHello, type HelloOffer } from './hello'

/** What to offer; the groups default to all of the version. */
type Offer = Omit<HelloOffer, 'servername' | 'groups' | 'keyShare'> & { groups?: readonly number[] }

/** `alert` is null if the server closed the connection instead. */
export type Outcome = { kind: 'accepted'; flight: ServerFlight } | { kind: 'refused'; alert: number | null }

/** Old servers reject longer lists. */
export const maxSuitesForOldServers = 120

/** The alert of servers that do not accept the version (RFC 8446 section 6.2). */
export const protocolVersionAlert = 70

/** Starts handshakes of one scan with chosen offers, and remembers what servers reveal on the way. */
export class Handshakes {
  #compression: boolean | null = null
  #secureRenegotiation: boolean | null = null
  #staple: Uint8Array | false | null = null
  /** Whether TLS 1.3 is offered with a key: some servers do not ask for one. */
  sendsKey = false
  /** Whether the server has accepted a list of suites that is too long for old servers. */
  acceptsLongLists = false
  #key: Uint8Array | null = null

  constructor(
    private readonly exchanges: Exchanges,
    private readonly chains: Chains,
  ) {}

  /** @throws ExchangeFailed */
  async start(offer: Offer): Promise<Outcome> {
    const groups = offer.groups ?? (offer.version === '1.3' ? groups13 : groupsBefore13)
    const hello = clientHello({
      ...offer,
      groups,
      servername: this.exchanges.target.servername,
      ...(offer.version === '1.3' && this.sendsKey && { keyShare: (this.#key ??= publicKey()) }),
    })
    const answer = await this.exchanges.ask(hello, new FlightReader({ suites: offer.suites, groups }))
    if (answer === 'closed') return { kind: 'refused', alert: null }
    if (answer.kind === 'accepted' && offer.suites.length > maxSuitesForOldServers) this.acceptsLongLists = true
    if (answer.kind === 'accepted') this.#observe(answer.flight, offer.compression ?? false)
    return answer
  }

  /** What was seen so far; null if nothing could show it. */
  observed(): Pick<AddressFacts, 'compression' | 'secure_renegotiation' | 'staple'> {
    return { compression: this.#compression, secure_renegotiation: this.#secureRenegotiation, staple: this.#staple }
  }

  #observe(flight: ServerFlight, offeredCompression: boolean): void {
    const { version, suite, certificates, certificateCount } = flight
    if (version === '1.3') return
    // A server that supports it in one version only does not support it.
    this.#secureRenegotiation = flight.secureRenegotiation && this.#secureRenegotiation !== false
    if (offeredCompression) this.#compression = flight.compression || this.#compression === true
    if (version !== 'ssl3' && certificates) this.#staple = flight.staple ?? (this.#staple || false)
    if (certificates && certificateCount > 0)
      this.chains.add({ certificates, count: certificateCount }, version, suite.authentication)
  }
}

function publicKey(): Uint8Array {
  return generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
}
