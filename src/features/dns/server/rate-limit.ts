import { classOf, parseAddress } from '../../../core/net/address'

/** What happens to a response: sent, replaced by a truncated one (real clients retry over TCP), or dropped. */
type Verdict = 'send' | 'truncate' | 'drop'

/** One in this many limited responses is sent truncated. */
const SLIP = 2
const SLOTS = 1 << 16

/**
 * Response rate limiting: limits UDP responses to one network, a /24 (IPv4) or /56 (IPv6), to prevent reflection attacks with
 * spoofed sources. Memory use is fixed. If two networks share a slot, each starts over when it takes the slot; a secret seed
 * prevents targeted collisions.
 */
export class ResponseRateLimit {
  readonly #networks: Float64Array
  readonly #tokens: Float64Array
  readonly #times: Float64Array
  readonly #limited: Uint8Array
  readonly #seed: number

  constructor(
    /** Responses per second for one network, also the burst size. */
    readonly perSecond: number,
    seed = crypto.getRandomValues(new Uint32Array(1))[0]!,
    /** Number of networks to track: a power of two. */
    slots = SLOTS,
  ) {
    this.#seed = seed
    this.#networks = new Float64Array(slots)
    this.#tokens = new Float64Array(slots)
    this.#times = new Float64Array(slots)
    this.#limited = new Uint8Array(slots)
  }

  /** @param now milliseconds of any monotonic clock */
  take(network: number, now: number): Verdict {
    const slot = placeOf(network, this.#seed) & (this.#networks.length - 1)
    if (this.#networks[slot] !== network) {
      this.#networks[slot] = network
      this.#tokens[slot] = this.perSecond
      this.#limited[slot] = 0
    } else {
      const gained = ((now - this.#times[slot]!) / 1000) * this.perSecond
      this.#tokens[slot] = Math.min(this.perSecond, this.#tokens[slot]! + Math.max(0, gained))
    }
    this.#times[slot] = now
    if (this.#tokens[slot]! >= 1) {
      this.#tokens[slot]!--
      return 'send'
    }
    return ++this.#limited[slot]! % SLIP === 0 ? 'truncate' : 'drop'
  }
}

/**
 * The network of a client as a non-zero number: the /24 of an IPv4 address, or the /56 of an IPv6 address. Null for loopback
 * addresses, which can't be spoofed from outside.
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
  // Seven octets exceed exact integers by a few bits: neighboring networks may share a limit, which is harmless.
  return network
}

/** Converts an IPv4 address to 32 bits, also in IPv4-mapped form; null for other addresses. */
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
