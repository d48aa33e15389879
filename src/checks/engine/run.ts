import type { Timer } from '../../core/clock'
import { createEgress, EgressRefused, type Egress } from '../../core/net/egress'
import type { Listener } from '../../core/net/own-listeners'
import { noFacts, type Around, type CheckError, type CheckSpec, type CheckType, type Facts } from '../check'
import type { EngineClock } from './clock'
import { Places, type Leave } from './places'
import type { CheckResolver } from './resolver'

// Of one engine at one address, and of monitors that come round in less than ten seconds at one of its ports.
const mostAtAddress = 8
const mostAtPort = 2
const shortIntervalMs = 10_000
const longestWaitMs = 5000
// Below the resolver's own patience a dead server could never be told from a name that does not exist.
const lookUpWithinMs = 12_000
// After it has been told to end.
const graceMs = 2000
const marginMs = 500
const mostTimerLateMs = 250

/** What runs of checks share: the network as far as they may see it. */
export class Network {
  readonly #places: Places
  readonly #egress: Record<'any' | 4 | 6, Egress>
  /** Sockets that no check may reach. */
  own: readonly Listener[] = []

  constructor(
    private readonly clock: EngineClock,
    private readonly resolver: Pick<CheckResolver, 'addresses' | 'suspect' | 'resolvers'>,
  ) {
    this.#places = new Places(clock)
    const guard = (family?: 4 | 6) =>
      createEgress({
        ownListeners: () => this.own,
        resolve: name => resolver.addresses(name, family),
        resolveWithinMs: lookUpWithinMs,
      })
    this.#egress = { any: guard(), 4: guard(4), 6: guard(6) }
  }

  /** Runs a check once. It ends with its time, if need be without the check. */
  run(spec: CheckSpec, type: CheckType): Promise<Facts> {
    const { clock } = this
    const ended = Promise.withResolvers<Facts>()
    const controller = new AbortController()
    const begunAt = clock.monotonic()
    // It has ended when its next turn is due, or that would be left out.
    const timeoutMs = Math.min(spec.timeout_ms, spec.interval_ms - Math.min(marginMs, spec.interval_ms / 10))
    const aborted = Promise.withResolvers<never>()
    aborted.promise.catch(() => {})
    let waited = 0
    let leaves: Leave[] = []
    const leave = () => {
      for (const one of leaves) one()
      leaves = []
    }
    let looking = 0
    let gaveUp: Promise<void> | null = null
    const end = (facts: Facts) => {
      timer.cancel()
      leave()
      // Whether it was the fault of the resolvers is known before anybody hears of it.
      if (gaveUp) void gaveUp.then(() => ended.resolve(facts))
      else ended.resolve(facts)
    }
    const timeOut = () => {
      // The loop stood still: answers that came meanwhile have not been read.
      const late = clock.monotonic() - deadline
      if (late > mostTimerLateMs && !extended) {
        extended = true
        wait(Math.min(late, timeoutMs))
        return
      }
      const waiting = spent(`It did not end within ${timeoutMs} ms.`, 'timeout', clock.monotonic() - begunAt - waited)
      timer = clock.after(graceMs, () => end(waiting))
      if (looking > 0) gaveUp = this.resolver.suspect()
      controller.abort()
      aborted.reject(new EgressRefused('dns', 'The host name could not be looked up in time.'))
    }
    let extended = false
    let deadline: number
    let timer: Timer
    const wait = (ms: number) => {
      deadline = clock.monotonic() + ms
      timer = clock.after(ms, timeOut)
    }
    wait(timeoutMs)
    /** Waits without time passing for the check: that others are asking the same server is not that server's slowness. */
    const place = async (key: string, most: number) => {
      const place = this.#places.take(key, most, Math.min(spec.interval_ms / 2, longestWaitMs))
      if (typeof place === 'function') {
        leaves.push(place)
        return
      }
      timer.cancel()
      const since = clock.monotonic()
      leaves.push(await place)
      waited += clock.monotonic() - since
      wait(Math.max(timeoutMs - (clock.monotonic() - begunAt - waited), 0))
    }
    const around: Around = {
      signal: controller.signal,
      now: () => clock.monotonic() - waited,
      wallNow: () => clock.now(),
      resolvers: () => this.resolver.resolvers(),
      vet: async (host, port, family) => {
        leave()
        looking++
        const vetting = this.#egress[family ?? 'any'].vetHost(host, port, spec.policy).finally(() => looking--)
        const vetted = await Promise.race([vetting, aborted.promise])
        if (family && vetted.family !== family) throw new EgressRefused('dns', `The host has no IPv${family} address.`)
        await place(vetted.address, mostAtAddress)
        if (spec.interval_ms < shortIntervalMs) await place(`${vetted.host} ${port}`, mostAtPort)
        return vetted
      },
    }
    void begin(type, spec, around).then(end, error =>
      end(spent(`The check failed: ${(error as Error).name}.`, 'internal', clock.monotonic() - begunAt - waited)),
    )
    return ended.promise
  }
}

// What a type throws before it has a promise is to end as what it throws after it.
const begin = async (type: CheckType, spec: CheckSpec, around: Around): Promise<Facts> =>
  type.run(spec.target, spec.options, around)

function spent(message: string, kind: CheckError['kind'], total: number): Facts {
  const facts = noFacts()
  return { ...facts, error: { kind, message }, phases: { ...facts.phases, total } }
}
