import type { Timer } from '../../core/clock'
import { createEgress, EgressRefused, type Egress, type NetworkPolicy } from '../../core/net/egress'
import type { Listener } from '../../core/net/own-listeners'
import { noFacts, type CheckContext, type CheckError, type CheckSpec, type CheckType, type Facts } from '../check'
import { HostScanner, type HostFacts, type HostScanRequest } from '../tls-probe/host-scan'
import type { EngineClock } from './clock'
import { KeyedSemaphore, type Release } from './keyed-semaphore'
import { failedScan } from './pending-scans'
import type { CheckResolver } from './resolver'

// Limits per engine: for one address, and for one port with monitors whose interval is below ten seconds.
const maxPerAddress = 8
const maxPerPort = 2
const shortIntervalMs = 10_000
const maxWaitMs = 5000
// Below the resolver's own timeout, an unresponsive resolver would look like a missing name.
const lookupTimeoutMs = 12_000
// After the abort.
const graceMs = 2000
const marginMs = 500
const maxTimerDelayMs = 250

/** Runs checks and gives them controlled access to the network. */
export class CheckRunner {
  readonly #semaphore: KeyedSemaphore
  readonly #scanner = new HostScanner()
  readonly #scans = new Map<number, AbortController>()
  readonly #egress: Record<'any' | 4 | 6, Egress>
  /** The hub's own sockets, which no check may reach, except with a DNS query to its name server. */
  hubListeners: readonly Listener[] = []

  constructor(
    private readonly clock: EngineClock,
    private readonly resolver: Pick<CheckResolver, 'addresses' | 'reportTimeout' | 'resolvers'>,
  ) {
    this.#semaphore = new KeyedSemaphore(clock)
    const guard = (family?: 4 | 6) =>
      createEgress({
        ownListeners: () => this.hubListeners,
        resolve: name => resolver.addresses(name, family),
        resolveWithinMs: lookupTimeoutMs,
      })
    this.#egress = { any: guard(), 4: guard(4), 6: guard(6) }
  }

  /**
   * Scans the TLS of a host. Runs in this thread because a server can send a certificate chain whose processing takes long, as with checks.
   * Everything else is short: about 5 ms of CPU time in all, in 25 parts.
   * @param scan its number, for `endScan`
   */
  async scanTls(scan: number, request: HostScanRequest, policy: NetworkPolicy): Promise<HostFacts> {
    const ended = new AbortController()
    this.#scans.set(scan, ended)
    const vetAddresses = (host: string, port: number) => this.#egress.any.vetAddresses(host, port, policy)
    try {
      return await this.#scanner.scan(request, vetAddresses, {
        now: () => this.clock.monotonic(),
        wallNow: () => this.clock.now(),
        signal: ended.signal,
      })
    } catch {
      return failedScan({ kind: 'internal', message: 'the scan itself failed because of a bug in Bailiwick' })
    } finally {
      this.#scans.delete(scan)
    }
  }

  /** Ends a scan if it is still running. */
  endScan(scan: number): void {
    this.#scans.get(scan)?.abort()
  }

  /** Ends all scans. */
  stop(): void {
    for (const ended of this.#scans.values()) ended.abort()
  }

  /** Runs a check once. Resolves by its time limit, even if the check does not. */
  run(spec: CheckSpec, type: CheckType): Promise<Facts> {
    const { clock } = this
    const finished = Promise.withResolvers<Facts>()
    const controller = new AbortController()
    const startedAt = clock.monotonic()
    // Must end before the next run is due, which would be skipped otherwise.
    const timeoutMs = Math.min(spec.timeout_ms, spec.interval_ms - Math.min(marginMs, spec.interval_ms / 10))
    const aborted = Promise.withResolvers<never>()
    aborted.promise.catch(() => {})
    let waited = 0
    let permits: Release[] = []
    const releaseAll = () => {
      for (const release of permits) release()
      permits = []
    }
    let lookups = 0
    let resolverProbe: Promise<void> | null = null
    const end = (facts: Facts) => {
      timer.cancel()
      releaseAll()
      // Find out whether the resolvers are at fault before reporting.
      if (resolverProbe) void resolverProbe.then(() => finished.resolve(facts))
      else finished.resolve(facts)
    }
    const timeOut = () => {
      // The event loop was blocked: responses that arrived meanwhile have not been read yet.
      const late = clock.monotonic() - deadline
      if (late > maxTimerDelayMs && !extended) {
        extended = true
        wait(Math.min(late, timeoutMs))
        return
      }
      const timedOut = failedFacts(`Check timed out after ${timeoutMs} ms.`, 'timeout', clock.monotonic() - startedAt - waited)
      timer = clock.after(graceMs, () => end(timedOut))
      if (lookups > 0) resolverProbe = this.resolver.reportTimeout()
      controller.abort()
      aborted.reject(new EgressRefused('dns', 'DNS lookup timed out.'))
    }
    let extended = false
    let deadline: number
    let timer: Timer
    const wait = (ms: number) => {
      deadline = clock.monotonic() + ms
      timer = clock.after(ms, timeOut)
    }
    wait(timeoutMs)
    /** Waits without counting toward the check's time: the server is not slow because other checks query it too. */
    const acquire = async (key: string, limit: number) => {
      const permit = this.#semaphore.acquire(key, limit, Math.min(spec.interval_ms / 2, maxWaitMs))
      if (typeof permit === 'function') {
        permits.push(permit)
        return
      }
      timer.cancel()
      const since = clock.monotonic()
      permits.push(await permit)
      waited += clock.monotonic() - since
      wait(Math.max(timeoutMs - (clock.monotonic() - startedAt - waited), 0))
    }
    const context: CheckContext = {
      signal: controller.signal,
      now: () => clock.monotonic() - waited,
      wallNow: () => clock.now(),
      resolvers: () => this.resolver.resolvers(),
      vet: async (host, port, family, purpose) => {
        releaseAll()
        lookups++
        const vetting = this.#egress[family ?? 'any'].vetHost(host, port, spec.policy, purpose).finally(() => lookups--)
        const vetted = await Promise.race([vetting, aborted.promise])
        if (family && vetted.family !== family) throw new EgressRefused('dns', `Host has no IPv${family} address.`)
        await acquire(vetted.address, maxPerAddress)
        if (spec.interval_ms < shortIntervalMs) await acquire(`${vetted.host} ${port}`, maxPerPort)
        return vetted
      },
    }
    void start(type, spec, context).then(end, error =>
      end(failedFacts(`Check failed: ${(error as Error).name}.`, 'internal', clock.monotonic() - startedAt - waited)),
    )
    return finished.promise
  }
}

// Turns a synchronous throw of a type into a rejection.
const start = async (type: CheckType, spec: CheckSpec, context: CheckContext): Promise<Facts> =>
  type.run(spec.target, spec.options, context)

function failedFacts(message: string, kind: CheckError['kind'], total: number): Facts {
  const facts = noFacts()
  return { ...facts, error: { kind, message }, phases: { ...facts.phases, total } }
}
