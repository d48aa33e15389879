import { neverTested, protocolVersions, type AddressFacts, type ProtocolVersion, type ScanPhase, type Untested } from './facts'
import { Chains } from './chains'
import { ExchangeFailed, Exchanges, scanLimits, type ScanContext, type ScanLimits, type ScanTarget } from './exchange'
import { groupsOffered } from './group-scan'
import { Handshakes, type Outcome } from './handshakes'
import { ordinaryHandshake } from './ordinary-handshake'
import { firstOutcome, orderOf, rejectsVersion, scanSsl2, scanVersion } from './version-scan'

const oldVersions = ['1.1', '1.0', 'ssl3'] as const

/**
 * Scans the TLS of one address: which versions, suites, groups and options it accepts, and the certificates it sends. Changes nothing at
 * the server, and keeps its limits: see exchange.ts. At most one scan of an address should run at once.
 *
 * Needs no keys for most of it: the server's first messages tell what it chose. One handshake is completed, for what TLS 1.3 encrypts.
 *
 * @returns facts with errors and gaps if the server fails, never throws for that
 */
export async function scanAddress(
  target: ScanTarget,
  context: ScanContext,
  limits: ScanLimits = scanLimits,
): Promise<AddressFacts> {
  const limit = new AbortController()
  const stop = () => limit.abort()
  const timer = setTimeout(stop, limits.scanMs)
  if (context.signal.aborted) stop()
  context.signal.addEventListener('abort', stop, { once: true })
  try {
    return await new AddressScan(target, { ...context, signal: limit.signal }, limits).run()
  } finally {
    clearTimeout(timer)
    context.signal.removeEventListener('abort', stop)
  }
}

class AddressScan {
  readonly #facts: AddressFacts
  readonly #exchanges: Exchanges
  readonly #handshakes: Handshakes
  readonly #chains = new Chains()
  readonly #startedAt: number

  constructor(
    target: ScanTarget,
    private readonly context: ScanContext,
    limits: ScanLimits,
  ) {
    this.#startedAt = context.now()
    this.#exchanges = new Exchanges(target, context, limits)
    this.#handshakes = new Handshakes(this.#exchanges, this.#chains)
    this.#facts = {
      address: target.vetted.address,
      port: target.vetted.port,
      protocol: target.protocol,
      servername: target.servername,
      scanned_at: context.wallNow(),
      duration_ms: 0,
      connections: 0,
      speaks_tls: false,
      versions: Object.fromEntries(protocolVersions.map(one => [one, { status: 'not_tested' }])) as AddressFacts['versions'],
      groups: [],
      compression: null,
      secure_renegotiation: null,
      staple: null,
      chains: [],
      alpn: null,
      http: null,
      errors: [],
      not_tested: [...neverTested],
    }
  }

  async run(): Promise<AddressFacts> {
    const facts = this.#facts
    await Promise.all([this.#version('1.3'), this.#version('1.2')])
    if (!this.#isUnreachable()) {
      await Promise.all([this.#olderVersions(), this.#ssl2()])
      facts.speaks_tls = Object.values(facts.versions).some(one => one.status === 'offered')
      if (facts.speaks_tls) {
        await Promise.all([this.#orders(), this.#groups()])
        // Last, because servers without HTTP may wait for more, and simple ones serve nobody else meanwhile.
        await this.#ordinary()
      }
    }
    Object.assign(facts, this.#handshakes.observed(), { chains: this.#chains.list() })
    facts.duration_ms = Math.round(this.context.now() - this.#startedAt)
    facts.connections = this.#exchanges.count
    return facts
  }

  /** Whether further connections would fail like the first two. */
  #isUnreachable(): boolean {
    const { errors } = this.#facts
    return (
      errors.length >= 2 && errors.every(one => one.phase === 'connect' || one.phase === 'starttls' || one.kind === 'timeout')
    )
  }

  async #version(version: Exclude<ProtocolVersion, 'ssl2'>, first?: Outcome): Promise<void> {
    await this.#step('versions', version, [], async () => {
      const failed = (error: unknown) => this.#failed(error, 'versions', version)
      this.#facts.versions[version] = await scanVersion(this.#handshakes, version, failed, first)
    })
  }

  async #olderVersions(): Promise<void> {
    let first: Outcome | undefined
    await this.#step('versions', '1.1', [], async () => {
      first = await firstOutcome(this.#handshakes, '1.1')
    })
    if (first && rejectsVersion(first)) {
      for (const version of oldVersions) this.#facts.versions[version] = { status: 'not_offered' }
      return
    }
    // Its error is recorded.
    if (first) await this.#version('1.1', first)
    await this.#version('1.0')
    await this.#version('ssl3')
  }

  async #ssl2(): Promise<void> {
    // Servers that ask for TLS after a greeting came after SSLv2 and its format.
    await this.#step('versions', 'ssl2', [], async () => {
      this.#facts.versions.ssl2 = await scanSsl2(this.#exchanges, this.#chains)
    })
  }

  async #orders(): Promise<void> {
    for (const version of protocolVersions) {
      const found = this.#facts.versions[version]
      if (version === 'ssl2' || found.status !== 'offered') continue
      await this.#step('order', version, version === '1.3' ? [] : ['compression'], async () => {
        found.order = await orderOf(this.#handshakes, version, found.suites)
      })
    }
  }

  async #groups(): Promise<void> {
    await this.#step('groups', null, ['groups'], async () => {
      this.#facts.groups = await groupsOffered(this.#handshakes, this.#facts.versions)
    })
  }

  async #ordinary(): Promise<void> {
    let hasAsked = false
    await this.#step('chain', null, [], async () => {
      hasAsked = await ordinaryHandshake(this.#exchanges, this.#chains, this.#facts)
    })
    if (!hasAsked) this.#skipped('http')
  }

  /** Runs a step; if it fails, the scan continues without its results. */
  async #step(phase: ScanPhase, version: ProtocolVersion | null, gaps: Untested[], run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#failed(error, phase, version)
      for (const one of gaps) this.#skipped(one)
    }
  }

  #failed(error: unknown, phase: ScanPhase, version: ProtocolVersion | null): void {
    if (!(error instanceof ExchangeFailed)) throw error
    const { kind, message } = error.failure
    this.#facts.errors.push({ phase: error.phase ?? phase, version, kind, message })
  }

  #skipped(what: Untested): void {
    if (!this.#facts.not_tested.includes(what)) this.#facts.not_tested.push(what)
  }
}
