import type { Family } from '../../core/dns-client/addresses'
import { EgressRefused } from '../../core/net/egress'
import type { Resolver } from '../../core/net/resolvers'
import type { EngineClock } from './clock'
import type { AskName, NameAnswer } from './name-answer'
import { ResolverTrust } from './resolver-trust'

/** What a resolver of checks stands on; in tests all of it is made up. */
export interface ResolverGround {
  ask: AskName
  /** Whom that asks; none where it is made up. */
  resolvers?(): readonly Resolver[]
  clock: Pick<EngineClock, 'monotonic' | 'after'>
  /** Addresses of the hosts file; undefined for a name that is not in it. */
  hosts(name: string): readonly string[] | undefined
  /** The system's own lookup, with all that NSS knows. @throws where it knows nothing */
  system(name: string): Promise<string[]>
  /** Whether names that DNS does not know may be found below another domain (`search` of resolv.conf(5)). */
  hasSearchList(): boolean
  /** Whether this machine can reach IPv6 addresses of the internet: they come first then (RFC 6724). */
  prefersIPv6(): boolean
}

interface Kept {
  answer: NameAnswer & { kind: 'found' | 'no_such_name' }
  freshUntil: number
  staleUntil: number
}

const leastTtlMs = 1000
const mostTtlMs = 300_000
// Long enough for one turn of checks, short enough that a name that is back is found by the next.
const negativeMs = 5000
const systemMs = 30_000
/** How long after their time answers still serve while the resolvers cannot be believed (RFC 8767). */
const staleMs = 3_600_000
const mostKept = 50_000
// After one family has answered, the other has so long.
const otherFamilyMs = 300
// An answer that takes longer may never come: it is time to ask whether any does.
const slowMs = 700

/**
 * Looks names up for checks: as resolv.conf(5) and hosts(5) say, from memory while the TTL lasts, each name once however many ask.
 * While the resolvers cannot be believed, what is known stays known. The system's resolver is asked for names without a dot or below
 * `.local`, which DNS does not know, and for names that DNS does not find where the machine has a search list.
 */
export class CheckResolver {
  readonly #kept = new Map<string, Kept>()
  readonly #asked = new Map<string, Promise<NameAnswer>>()
  readonly trust: ResolverTrust
  readonly counts = { hits: 0, misses: 0, failures: 0 }
  /** Whether a name could not be found while the resolvers could not be believed, and none was found since they can. */
  helpless = false

  constructor(private readonly ground: ResolverGround) {
    this.trust = new ResolverTrust(ground.ask, ground.clock)
  }

  /** Name servers that are asked, in their order. */
  resolvers(): readonly Resolver[] {
    return this.ground.resolvers?.() ?? []
  }

  /**
   * The addresses of a name, the one to dial first in front.
   * @param name canonical
   * @throws EgressRefused `dns`
   */
  async addresses(name: string, family?: 4 | 6): Promise<string[]> {
    const listed = name === 'localhost' ? (this.ground.hosts(name) ?? ['127.0.0.1', '::1']) : this.ground.hosts(name)
    const usable = listed?.filter(address => isOf(address, family))
    if (usable && usable.length > 0) {
      this.counts.hits++
      return usable
    }
    const both: Family[] = this.ground.prefersIPv6() ? ['AAAA', 'A'] : ['A', 'AAAA']
    const families: Family[] = family ? [family === 6 ? 'AAAA' : 'A'] : both
    const answers = await this.#answers(name, families)
    const found = answers.flatMap(answer => (answer.kind === 'found' ? answer.addresses : []))
    if (found.length > 0) return found
    if (this.trust.broken) this.helpless = true
    throw new EgressRefused('dns', this.#reason(answers, family))
  }

  /** To be called each second: looks whether resolvers that could not be believed can be again. */
  async recheck(): Promise<void> {
    if (this.trust.broken) await this.trust.examine()
    if (!this.trust.broken) this.helpless = false
  }

  /** A lookup was given up, since its check has no more time: finds out whether the resolvers are to blame. */
  async suspect(): Promise<void> {
    await this.trust.examine()
    if (this.trust.broken) this.helpless = true
  }

  async #answers(name: string, [first, second]: Family[]): Promise<NameAnswer[]> {
    const one = this.#answer(name, first!)
    if (!second) return [await one]
    const other = this.#answer(name, second)
    const early = await Promise.race([one, other])
    if (early.kind !== 'found' || early.addresses.length === 0) return Promise.all([one, other])
    let timer: { cancel(): void } | undefined
    const late = new Promise<NameAnswer>(resolve => {
      timer = this.ground.clock.after(otherFamilyMs, () => resolve({ kind: 'silent' }))
    })
    const answers = await Promise.all([Promise.race([one, late]), Promise.race([other, late])])
    timer?.cancel()
    return answers
  }

  #answer(name: string, family: Family): Promise<NameAnswer> {
    const key = `${family} ${name}`
    const kept = this.#kept.get(key)
    if (kept && kept.freshUntil > this.ground.clock.monotonic()) {
      this.counts.hits++
      return Promise.resolve(kept.answer)
    }
    const asked = this.#asked.get(key)
    if (asked) {
      this.counts.hits++
      return asked
    }
    this.counts.misses++
    const asking = this.#find(key, name, family).finally(() => this.#asked.delete(key))
    this.#asked.set(key, asking)
    return asking
  }

  async #find(key: string, name: string, family: Family): Promise<NameAnswer> {
    if (isOfSystem(name)) return this.#systemAnswer(key, name, family)
    const slow = this.ground.clock.after(slowMs, () => void this.trust.examine())
    const answer = await this.ground.ask(name, family)
    slow.cancel()
    await this.trust.heard(name, family, answer)
    if (answer.kind === 'found' && answer.addresses.length > 0) return this.#keep(key, answer, answer.ttl * 1000)
    const kept = this.#kept.get(key)
    if (this.trust.broken && kept && kept.staleUntil > this.ground.clock.monotonic()) return kept.answer
    if (answer.kind === 'no_such_name' && this.ground.hasSearchList()) return this.#systemAnswer(key, name, family)
    if (answer.kind === 'found' || answer.kind === 'no_such_name') return this.#keep(key, answer, negativeMs)
    this.counts.failures++
    return answer
  }

  async #systemAnswer(key: string, name: string, family: Family): Promise<NameAnswer> {
    try {
      const addresses = (await this.ground.system(name)).filter(address => isOf(address, family === 'A' ? 4 : 6))
      return this.#keep(key, { kind: 'found', addresses, ttl: systemMs / 1000 }, addresses.length > 0 ? systemMs : negativeMs)
    } catch {
      this.counts.failures++
      return this.#keep(key, { kind: 'no_such_name', ttl: negativeMs / 1000 }, negativeMs)
    }
  }

  #keep(key: string, answer: Kept['answer'], ttlMs: number): NameAnswer {
    const now = this.ground.clock.monotonic()
    const freshUntil = now + Math.min(Math.max(ttlMs, leastTtlMs), mostTtlMs)
    const isGood = answer.kind === 'found' && answer.addresses.length > 0
    this.#kept.delete(key)
    this.#kept.set(key, { answer, freshUntil, staleUntil: isGood ? freshUntil + staleMs : freshUntil })
    // The longest unused are in front.
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= mostKept) break
      this.#kept.delete(oldest)
    }
    return answer
  }

  #reason(answers: readonly NameAnswer[], family?: 4 | 6): string {
    if (this.trust.broken) return `The host name could not be looked up. ${this.trust.broken}`
    if (answers.some(answer => answer.kind === 'silent'))
      return 'The host name could not be looked up: no resolver answered in time.'
    for (const answer of answers)
      if (answer.kind === 'failed') return `The host name could not be looked up: the resolver answered ${answer.rcode}.`
    if (answers.every(answer => answer.kind === 'no_such_name')) return 'The host name does not exist (NXDOMAIN).'
    return family ? `The host name has no IPv${family} address.` : 'The host name has no address.'
  }
}

const isOfSystem = (name: string): boolean => !name.includes('.') || name.endsWith('.local')

const isOf = (address: string, family: 4 | 6 | undefined): boolean => !family || address.includes(':') === (family === 6)
