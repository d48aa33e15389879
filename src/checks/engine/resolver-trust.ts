import type { Family } from '../../core/dns-client/addresses'
import type { EngineClock } from './clock'
import type { AskName, NameAnswer } from './name-answer'

/** Zones whose servers are everywhere: a name under them that nobody has is answered by whoever reaches the internet. */
const references = ['com', 'net', 'org'] as const
// What is found out holds so long: hundreds of lookups that fail at once ask once.
const holdsMs = 1000
const lookedUpLatelyMs = 60_000
// Fewer names, or names of fewer domains, may well fail together on their own account: an expired domain takes all its names along.
const leastNames = 10
const leastDomains = 3
const turnedTogetherMs = 60_000
// What lasts longer than that is no passing trouble of a resolver.
const longestWaveMs = 600_000

const says = { silent: 'do not answer', failed: 'answer with errors only', many: 'find half of all names no longer' }

interface Seen {
  name: string
  family: Family
  ok: boolean
  /** When it turned so, and was looked up last (monotonic ms). */
  since: number
  at: number
}

/**
 * Whether the resolvers of this machine can be believed when they fail to find a name. They cannot when they are dead, have lost the
 * internet, or suddenly know nothing of half of all names; then the failure says nothing of the name.
 */
export class ResolverTrust {
  readonly #seen = new Map<string, Seen>()
  #referenceWorked = false
  #examining: Promise<void> | null = null
  #examinedAt = -Infinity
  #failing: string | null = null
  #wave: number | null = null

  constructor(
    private readonly ask: AskName,
    private readonly clock: Pick<EngineClock, 'monotonic'>,
  ) {}

  /** Why they cannot be believed now, for people; null when they can. */
  get broken(): string | null {
    const why = this.#failing ?? (this.#wave === null ? null : says.many)
    return why && `The resolvers of this machine ${why}.`
  }

  /** Takes note of what they said of a name; resolves when `broken` tells whether that can be believed. */
  async heard(name: string, family: Family, answer: NameAnswer): Promise<void> {
    // That a name has no address of a family tells nothing either way.
    if (answer.kind === 'found' && answer.addresses.length === 0) return
    const now = this.clock.monotonic()
    const ok = answer.kind === 'found'
    const key = `${family} ${name}`
    const before = this.#seen.get(key)
    this.#seen.set(key, { name, family, ok, since: before?.ok === ok ? before.since : before ? now : -Infinity, at: now })
    if (ok) {
      // To know later whether the reference can be reached from here at all.
      if (this.#examinedAt === -Infinity) void this.examine()
      return
    }
    if (before?.ok) this.#count()
    if (answer.kind !== 'no_such_name') await this.examine()
  }

  /** Finds out anew. Asked often, it asks others once a second. */
  examine(): Promise<void> {
    if (this.#examining) return this.#examining
    if (this.clock.monotonic() - this.#examinedAt < holdsMs) return Promise.resolve()
    this.#examinedAt = this.clock.monotonic()
    return (this.#examining = this.#examine().finally(() => (this.#examining = null)))
  }

  async #examine(): Promise<void> {
    this.#count()
    const answer = await this.ask(randomName(), 'A')
    const works = isAnswer(answer)
    if (works) this.#referenceWorked = true
    if (works) this.#failing = null
    // A network without the internet never reaches the reference. What it does reach tells then.
    else if (this.#referenceWorked || !(await this.#knowsAnother())) this.#failing = isSilent(answer) ? says.silent : says.failed
    else this.#failing = null
  }

  async #knowsAnother(): Promise<boolean> {
    const now = this.clock.monotonic()
    const known = [...this.#seen.values()].filter(({ ok, at }) => ok && now - at < lookedUpLatelyMs).slice(-2)
    const answers = await Promise.all(known.map(({ name, family }) => this.ask(name, family)))
    return answers.some(isAnswer)
  }

  /** Looks for names that turned bad together, and for their end. */
  #count(): void {
    const now = this.clock.monotonic()
    const since = this.#wave ?? now - turnedTogetherMs
    const turned: string[] = []
    let names = 0
    for (const [key, one] of this.#seen) {
      if (now - one.at > longestWaveMs) {
        this.#seen.delete(key)
        continue
      }
      names++
      if (!one.ok && one.since >= since) turned.push(one.name)
    }
    const isWave = names >= leastNames && turned.length * 2 >= names && new Set(turned.map(domainOf)).size >= leastDomains
    if (!isWave || (this.#wave !== null && now - this.#wave > longestWaveMs)) this.#wave = null
    else this.#wave ??= since
  }
}

const isAnswer = ({ kind }: NameAnswer): boolean => kind === 'found' || kind === 'no_such_name'
const isSilent = ({ kind }: NameAnswer): boolean => kind === 'silent'

function randomName(): string {
  const [number, zone] = crypto.getRandomValues(new Uint32Array(2))
  return `bw-${number!.toString(36)}${zone!.toString(36)}.${references[zone! % references.length]}`
}

/** Near enough to what is registered as a whole. */
const domainOf = (name: string): string => name.split('.').slice(-2).join('.')
