import { maxChains, type Authentication, type ProtocolVersion, type SentChain } from './facts'

/** Collects the different chains that a server sends. */
export class Chains {
  readonly #chains: SentChain[] = []

  /**
   * @param authentication null if it is unknown
   * @param first whether modern clients get this one
   */
  add(
    sent: { certificates: Uint8Array[]; count: number },
    version: ProtocolVersion,
    authentication: Authentication | null,
    first = false,
  ): void {
    let known = this.#chains.find(one => one.count === sent.count && areEqual(one.certificates, sent.certificates))
    if (!known) {
      if (this.#chains.length >= maxChains) return
      known = { ...sent, versions: [], authentications: [] }
      this.#chains.push(known)
    }
    if (!known.versions.includes(version)) known.versions.push(version)
    if (authentication && !known.authentications.includes(authentication)) known.authentications.push(authentication)
    if (first) this.#chains.unshift(...this.#chains.splice(this.#chains.indexOf(known), 1))
  }

  list(): SentChain[] {
    return this.#chains
  }
}

const areEqual = (some: Uint8Array[], others: Uint8Array[]): boolean =>
  some.length === others.length && some.every((one, at) => Buffer.compare(one, others[at]!) === 0)
