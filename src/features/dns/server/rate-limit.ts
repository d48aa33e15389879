import { classOf, parseAddress } from '../../../core/net/address'

/** What becomes of an answer: sent, cut down to a TC bit (a client that is no victim comes again by TCP), or not sent. */
export type Verdict = 'send' | 'truncate' | 'drop'

/** Of so many answers that are held back, one is sent truncated. */
const SLIP = 2
const SLOTS = 1 << 16

/**
 * Response rate limiting: bounds what is sent by UDP to one network, a /24 of IPv4 or a /56 of IPv6, so that nobody has
 * us flood a victim whose address he writes into his queries. Its memory is fixed. Two networks may share a place; then
 * each begins anew when it takes the place from the other, and nobody from outside can choose who that is.
 */
export class ResponseRateLimit {
  readonly #networks: Float64Array
  readonly #tokens: Float64Array
  readonly #times: Float64Array
  readonly #held: Uint8Array
  readonly #seed: number

  constructor(
    /** Answers a second that one network may get, and may get at once after a rest. */
    readonly perSecond: number,
    seed = crypto.getRandomValues(new Uint32Array(1))[0]!,
    /** Networks that are counted at once: a power of two. */
    slots = SLOTS,
  ) {
    this.#seed = seed
    this.#networks = new Float64Array(slots)
    this.#tokens = new Float64Array(slots)
    this.#times = new Float64Array(slots)
    this.#held = new Uint8Array(slots)
  }

  /** @param now milliseconds, of any beginning */
  take(network: number, now: number): Verdict {
    const slot = placeOf(network, this.#seed) & (this.#networks.length - 1)
    if (this.#networks[slot] !== network) {
      this.#networks[slot] = network
      this.#tokens[slot] = this.perSecond
      this.#held[slot] = 0
    } else {
      const gained = ((now - this.#times[slot]!) / 1000) * this.perSecond
      this.#tokens[slot] = Math.min(this.perSecond, this.#tokens[slot]! + Math.max(0, gained))
    }
    this.#times[slot] = now
    if (this.#tokens[slot]! >= 1) {
      this.#tokens[slot]!--
      return 'send'
    }
    return ++this.#held[slot]! % SLIP === 0 ? 'truncate' : 'drop'
  }
}

/**
 * The network of a client as a number, other than 0: the /24 of an IPv4 address, the /56 of an IPv6 address.
 * Null for this machine's own addresses, which nobody on the outside can write into a packet that gets here.
 */
export function networkOf(address: string): number | null {
  const octets = ipv4Of(address)
  if (octets !== null) return octets >>> 24 === 127 ? null : (octets >>> 8) + 1
  const parsed = parseAddress(address.split('%')[0]!)
  if (!parsed) return null
  if (classOf(parsed) === 'loopback') return null
  const bytes = parsed.toByteArray()
  let network = 1
  for (let at = 0; at < 7; at++) network = network * 256 + bytes[at]!
  // Seven octets pass what a number holds exactly by a few bits: neighbours may count as one, which is no harm.
  return network
}

/** An IPv4 address as 32 bits, also in the form in which a socket of both families tells it; null for what is none. */
function ipv4Of(address: string): number | null {
  let bits = 0
  let octet = 0
  let dots = 0
  for (let at = address.startsWith('::ffff:') ? 7 : 0; at < address.length; at++) {
    const code = address.charCodeAt(at)
    if (code === 0x2e) {
      bits = bits * 256 + octet
      octet = 0
      dots++
    } else if (code >= 0x30 && code <= 0x39) octet = octet * 10 + code - 0x30
    else return null
  }
  return dots === 3 ? bits * 256 + octet : null
}

function placeOf(network: number, seed: number): number {
  let hash = Math.imul((network % 0x100000000) ^ seed, 0x9e3779b1)
  hash = Math.imul(hash ^ (hash >>> 15) ^ Math.floor(network / 0x100000000), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
