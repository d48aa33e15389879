import type { Family } from '../../dns/client/addresses'
import { EgressRefused } from '../../core/net/egress'
import type { Resolver } from '../../core/net/resolvers'
import type { EngineClock } from './clock'
import type { LookUpName, LookupResult } from './name-lookup'
import { ResolverHealth } from './resolver-health'

/** What a resolver depends on; replaced in tests. */
export interface ResolverDependencies {
  lookUp: LookUpName
  /** The name servers that `lookUp` queries; none in tests. */
  resolvers?(): readonly Resolver[]
  clock: Pick<EngineClock, 'monotonic' | 'after'>
  /** Addresses from the hosts file; undefined for names that are not in it. */
  hosts(name: string): readonly string[] | undefined
  /** The system's own lookup, including everything NSS knows. @throws if the name is unknown */
  system(name: string): Promise<string[]>
  /** Whether names unknown to DNS may be found below another domain (`search` in resolv.conf(5)). */
  hasSearchList(): boolean
  /** Whether this machine can reach public IPv6 addresses, which then come first (RFC 6724). */
  prefersIPv6(): boolean
}

interface CacheEntry {
  answer: LookupResult & { kind: 'found' | 'not_found' }
  freshUntil: number
  staleUntil: number
}

const minTtlMs = 1000
const maxTtlMs = 300_000
// Long enough for one round of checks, short enough that the next finds a name that is back.
const negativeMs = 5000
const systemMs = 30_000
/** How long expired answers are served while the resolvers cannot be trusted (RFC 8767). */
const staleMs = 3_600_000
const maxCached = 50_000
// How long to wait for the second address family after the first responded.
const otherFamilyMs = 300
// A slower response may never arrive: time to probe the resolvers.
const slowMs = 700

/**
 * Resolves names for checks as resolv.conf(5) and hosts(5) say, with a cache, and with one query for concurrent lookups of a name. While
 * the resolvers cannot be trusted, known names stay usable. The system resolver is used for names without a dot and below `.local`,
 * which DNS does not know, and for names that DNS does not find if the machine has a search list.
 */
export class CheckResolver {
  readonly #cache = new Map<string, CacheEntry>()
  readonly #pending = new Map<string, Promise<LookupResult>>()
  readonly health: ResolverHealth
  readonly counts = { hits: 0, misses: 0, failures: 0 }
  /** Whether a lookup failed while the resolvers could not be trusted; reset once they work again. */
  isImpaired = false

  constructor(private readonly dependencies: ResolverDependencies) {
    this.health = new ResolverHealth(dependencies.lookUp, dependencies.clock)
  }

  /** Name servers in use, in order. */
  resolvers(): readonly Resolver[] {
    return this.dependencies.resolvers?.() ?? []
  }

  /**
   * The addresses of a name, in order of preference.
   * @param name canonical
   * @throws EgressRefused `dns`
   */
  async addresses(name: string, family?: 4 | 6): Promise<string[]> {
    const listed = name === 'localhost' ? (this.dependencies.hosts(name) ?? ['127.0.0.1', '::1']) : this.dependencies.hosts(name)
    const usable = listed?.filter(address => isOf(address, family))
    if (usable && usable.length > 0) {
      this.counts.hits++
      return usable
    }
    const both: Family[] = this.dependencies.prefersIPv6() ? ['AAAA', 'A'] : ['A', 'AAAA']
    const families: Family[] = family ? [family === 6 ? 'AAAA' : 'A'] : both
    const answers = await this.#answers(name, families)
    const found = answers.flatMap(answer => (answer.kind === 'found' ? answer.addresses : []))
    if (found.length > 0) return found
    if (this.health.problem) this.isImpaired = true
    throw new EgressRefused('dns', this.#reason(answers, family))
  }

  /** Must be called every second: probes whether untrusted resolvers work again. */
  async recheckHealth(): Promise<void> {
    if (this.health.problem) await this.health.probe()
    if (!this.health.problem) this.isImpaired = false
  }

  /** A check timed out during a lookup: finds out whether the resolvers are to blame. */
  async reportTimeout(): Promise<void> {
    await this.health.probe()
    if (this.health.problem) this.isImpaired = true
  }

  async #answers(name: string, [first, second]: Family[]): Promise<LookupResult[]> {
    const preferred = this.#answer(name, first!)
    if (!second) return [await preferred]
    const other = this.#answer(name, second)
    const early = await Promise.race([preferred, other])
    if (early.kind !== 'found' || early.addresses.length === 0) return Promise.all([preferred, other])
    let timer: { cancel(): void } | undefined
    const late = new Promise<LookupResult>(resolve => {
      timer = this.dependencies.clock.after(otherFamilyMs, () => resolve({ kind: 'timeout' }))
    })
    const answers = await Promise.all([Promise.race([preferred, late]), Promise.race([other, late])])
    timer?.cancel()
    return answers
  }

  #answer(name: string, family: Family): Promise<LookupResult> {
    const key = `${family} ${name}`
    const cached = this.#cache.get(key)
    if (cached && cached.freshUntil > this.dependencies.clock.monotonic()) {
      this.counts.hits++
      return Promise.resolve(cached.answer)
    }
    const pending = this.#pending.get(key)
    if (pending) {
      this.counts.hits++
      return pending
    }
    this.counts.misses++
    const lookup = this.#find(key, name, family).finally(() => this.#pending.delete(key))
    this.#pending.set(key, lookup)
    return lookup
  }

  async #find(key: string, name: string, family: Family): Promise<LookupResult> {
    if (needsSystem(name)) return this.#systemAnswer(key, name, family)
    const slow = this.dependencies.clock.after(slowMs, () => void this.health.probe())
    const answer = await this.dependencies.lookUp(name, family)
    slow.cancel()
    await this.health.record(name, family, answer)
    if (answer.kind === 'found' && answer.addresses.length > 0) return this.#store(key, answer, answer.ttl * 1000)
    const cached = this.#cache.get(key)
    if (this.health.problem && cached && cached.staleUntil > this.dependencies.clock.monotonic()) return cached.answer
    if (answer.kind === 'not_found' && this.dependencies.hasSearchList()) return this.#systemAnswer(key, name, family)
    if (answer.kind === 'found' || answer.kind === 'not_found') return this.#store(key, answer, negativeMs)
    this.counts.failures++
    return answer
  }

  async #systemAnswer(key: string, name: string, family: Family): Promise<LookupResult> {
    try {
      const addresses = (await this.dependencies.system(name)).filter(address => isOf(address, family === 'A' ? 4 : 6))
      return this.#store(key, { kind: 'found', addresses, ttl: systemMs / 1000 }, addresses.length > 0 ? systemMs : negativeMs)
    } catch {
      this.counts.failures++
      return this.#store(key, { kind: 'not_found', ttl: negativeMs / 1000 }, negativeMs)
    }
  }

  #store(key: string, answer: CacheEntry['answer'], ttlMs: number): LookupResult {
    const now = this.dependencies.clock.monotonic()
    const freshUntil = now + Math.min(Math.max(ttlMs, minTtlMs), maxTtlMs)
    const isGood = answer.kind === 'found' && answer.addresses.length > 0
    this.#cache.delete(key)
    this.#cache.set(key, { answer, freshUntil, staleUntil: isGood ? freshUntil + staleMs : freshUntil })
    // The least recently stored come first.
    for (const [oldest] of this.#cache) {
      if (this.#cache.size <= maxCached) break
      this.#cache.delete(oldest)
    }
    return answer
  }

  #reason(answers: readonly LookupResult[], family?: 4 | 6): string {
    if (this.health.problem) return `DNS lookup failed. ${this.health.problem}`
    if (answers.some(answer => answer.kind === 'timeout')) return 'DNS lookup failed: no resolver responded in time.'
    for (const answer of answers) if (answer.kind === 'failed') return `DNS lookup failed: the resolver returned ${answer.rcode}.`
    if (answers.every(answer => answer.kind === 'not_found')) return 'The hostname does not exist (NXDOMAIN).'
    return family ? `The hostname has no IPv${family} address.` : 'The hostname has no address.'
  }
}

const needsSystem = (name: string): boolean => !name.includes('.') || name.endsWith('.local')

const isOf = (address: string, family: 4 | 6 | undefined): boolean => !family || address.includes(':') === (family === 6)
