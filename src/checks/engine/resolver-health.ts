import type { Family } from '../../dns/client/addresses'
import type { EngineClock } from './clock'
import type { LookUpName, LookupResult } from './name-lookup'

/** Zones with servers worldwide: a random name below them gets a response from any resolver with internet access. */
const references = ['com', 'net', 'org'] as const
// Results are reused for this long: hundreds of lookups that fail at once trigger one probe.
const probeIntervalMs = 1000
const recentLookupMs = 60_000
// Fewer names, or names of fewer domains, may well fail together for their own reasons, such as an expired domain.
const minNames = 10
const minDomains = 3
const waveWindowMs = 60_000
// A longer failure is not a temporary problem of the resolver.
const maxWaveMs = 600_000

const problems = { timeout: 'do not respond', failed: 'only return errors', many: 'no longer find half of all names' }

interface NameHistory {
  name: string
  family: Family
  ok: boolean
  /** When the outcome changed, and the last lookup (monotonic ms). */
  since: number
  at: number
}

/**
 * Whether failed lookups can be trusted. They cannot while the resolvers of this machine are down, have lost internet access, or suddenly
 * do not find half of all names: such a failure says nothing about the name.
 */
export class ResolverHealth {
  readonly #history = new Map<string, NameHistory>()
  #referenceReached = false
  #probing: Promise<void> | null = null
  #probedAt = -Infinity
  #failing: string | null = null
  #wave: number | null = null

  constructor(
    private readonly lookUp: LookUpName,
    private readonly clock: Pick<EngineClock, 'monotonic'>,
  ) {}

  /** Why failed lookups cannot be trusted, for people; null if they can. */
  get problem(): string | null {
    const problem = this.#failing ?? (this.#wave === null ? null : problems.many)
    return problem && `The resolvers of this machine ${problem}.`
  }

  /** Records the result of a lookup. Once it resolves, `problem` tells whether the result can be trusted. */
  async record(name: string, family: Family, answer: LookupResult): Promise<void> {
    // A name without addresses of a family is no evidence either way.
    if (answer.kind === 'found' && answer.addresses.length === 0) return
    const now = this.clock.monotonic()
    const ok = answer.kind === 'found'
    const key = `${family} ${name}`
    const before = this.#history.get(key)
    this.#history.set(key, { name, family, ok, since: before?.ok === ok ? before.since : before ? now : -Infinity, at: now })
    if (ok) {
      // To learn whether the reference names can be reached from here at all.
      if (this.#probedAt === -Infinity) void this.probe()
      return
    }
    if (before?.ok) this.#detectWave()
    if (answer.kind !== 'not_found') await this.probe()
  }

  /** Checks whether the resolvers work, at most once a second. */
  probe(): Promise<void> {
    if (this.#probing) return this.#probing
    if (this.clock.monotonic() - this.#probedAt < probeIntervalMs) return Promise.resolve()
    this.#probedAt = this.clock.monotonic()
    return (this.#probing = this.#probe().finally(() => (this.#probing = null)))
  }

  async #probe(): Promise<void> {
    this.#detectWave()
    const answer = await this.lookUp(randomName(), 'A')
    const works = isAnswer(answer)
    if (works) this.#referenceReached = true
    if (works) this.#failing = null
    // An isolated network never reaches the reference names: then other known names decide.
    else if (this.#referenceReached || !(await this.#findsKnownName()))
      this.#failing = isTimeout(answer) ? problems.timeout : problems.failed
    else this.#failing = null
  }

  async #findsKnownName(): Promise<boolean> {
    const now = this.clock.monotonic()
    const known = [...this.#history.values()].filter(({ ok, at }) => ok && now - at < recentLookupMs).slice(-2)
    const answers = await Promise.all(known.map(({ name, family }) => this.lookUp(name, family)))
    return answers.some(isAnswer)
  }

  /** Detects whether many names stopped resolving together, and when that is over. */
  #detectWave(): void {
    const now = this.clock.monotonic()
    const since = this.#wave ?? now - waveWindowMs
    const failed: string[] = []
    let names = 0
    for (const [key, entry] of this.#history) {
      if (now - entry.at > maxWaveMs) {
        this.#history.delete(key)
        continue
      }
      names++
      if (!entry.ok && entry.since >= since) failed.push(entry.name)
    }
    const isWave = names >= minNames && failed.length * 2 >= names && new Set(failed.map(domainOf)).size >= minDomains
    if (!isWave || (this.#wave !== null && now - this.#wave > maxWaveMs)) this.#wave = null
    else this.#wave ??= since
  }
}

const isAnswer = ({ kind }: LookupResult): boolean => kind === 'found' || kind === 'not_found'
const isTimeout = ({ kind }: LookupResult): boolean => kind === 'timeout'

function randomName(): string {
  const [number, zone] = crypto.getRandomValues(new Uint32Array(2))
  return `bw-${number!.toString(36)}${zone!.toString(36)}.${references[zone! % references.length]}`
}

/** Approximates the registered domain. */
const domainOf = (name: string): string => name.split('.').slice(-2).join('.')
