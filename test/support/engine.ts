import { Engine, type EngineGround } from '../../src/checks/engine/engine'
import type { NameAnswer } from '../../src/checks/engine/name-answer'
import type { ResolverGround } from '../../src/checks/engine/resolver'
import { noFacts, type CheckResult, type CheckSpec, type CheckType, type Facts } from '../../src/checks/check'
import type { EnginePulse, FromEngine } from '../../src/checks/messages'
import { HandClock } from './engine-clock'

/** A monitor as a hub describes it; of an address that needs no looking up. */
export const spec = (monitor: string, more: Partial<CheckSpec> = {}): CheckSpec => ({
  monitor,
  revision: 1,
  type: 'tcp',
  target: '127.0.0.1:80',
  options: {},
  interval_ms: 30_000,
  retry_interval_ms: 15_000,
  timeout_ms: 10_000,
  confirm: 2,
  recover: 2,
  down_if: [],
  degraded_if: [],
  degraded_ms: null,
  policy: { allowPrivate: true, allowRanges: [], requireHttps: false },
  settled: 'up',
  ...more,
})

/** A type of check that does as a test says. */
export const typeOf = (run: CheckType['run'], more: Partial<CheckType> = {}): CheckType => ({
  name: 'tcp',
  title: '',
  description: '',
  targetForm: '',
  options: { type: 'object' } as CheckType['options'],
  secrets: [],
  sources: [],
  target: text => text,
  run,
  ...more,
})

export const good = (more: Partial<Facts> = {}): Facts => ({ ...noFacts(), connected: true, ...more })
export const bad = (message = 'Nobody answered.'): Facts => ({ ...noFacts(), error: { kind: 'refused', message } })

/** What resolvers say, by name; silent about all others. */
export const namesOf = (clock: HandClock, ask: ResolverGround['ask'] = async () => ({ kind: 'silent' })): ResolverGround => ({
  ask,
  clock,
  hosts: () => undefined,
  system: () => Promise.reject(new Error('unknown')),
  hasSearchList: () => false,
  prefersIPv6: () => false,
})

export const found = (address: string, ttl = 60): NameAnswer => ({ kind: 'found', addresses: [address], ttl })

/** An engine on time moved by hand, and all that it tells. */
export function engineOf(type: CheckType | undefined, more: (clock: HandClock) => Partial<EngineGround> = () => ({})) {
  const clock = new HandClock()
  const results: (CheckResult & { told: number })[] = []
  const pulses: EnginePulse[] = []
  const told: FromEngine[] = []
  const engine = new Engine({
    clock,
    names: namesOf(clock),
    typeOf: () => type,
    defaultRoute: () => true,
    mostInFlight: 1000,
    tell(message) {
      told.push(message)
      if (message.kind === 'results') results.push(...message.results.map(one => ({ ...one, told: clock.now() })))
      if (message.kind === 'pulse') pulses.push(message.pulse)
    },
    ...more(clock),
  })
  return { engine, clock, results, pulses, told }
}
