import { CurrentCheck } from '../../src/checks/engine/current-check'
import { Engine, type EngineDependencies } from '../../src/checks/engine/engine'
import type { LookupResult } from '../../src/checks/engine/name-lookup'
import type { ResolverDependencies } from '../../src/checks/engine/resolver'
import { noFacts, type CheckResult, type CheckSpec, type CheckType, type Facts } from '../../src/checks/check'
import type { EnginePulse, FromEngine } from '../../src/checks/messages'
import { ManualEngineClock } from './engine-clock'

/** A monitor as the hub sends it, with an IP address as target, so that no DNS lookup is needed. */
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
  domain_expires_at: null,
  confirmed_status: 'up',
  ...more,
})

/** A check type with the given behavior. */
export const typeOf = (run: CheckType['run'], more: Partial<CheckType> = {}): CheckType => ({
  name: 'tcp',
  title: '',
  description: '',
  targetDescription: '',
  options: { type: 'object' } as CheckType['options'],
  secrets: [],
  sources: [],
  target: text => text,
  run,
  ...more,
})

export const good = (more: Partial<Facts> = {}): Facts => ({ ...noFacts(), connected: true, ...more })
export const bad = (message = 'Connection refused.'): Facts => ({ ...noFacts(), error: { kind: 'refused', message } })

/** A resolver whose lookups time out unless the test says otherwise. */
export const namesOf = (
  clock: ManualEngineClock,
  lookUp: ResolverDependencies['lookUp'] = async () => ({ kind: 'timeout' }),
): ResolverDependencies => ({
  lookUp,
  clock,
  hosts: () => undefined,
  system: () => Promise.reject(new Error('unknown')),
  hasSearchList: () => false,
  prefersIPv6: () => false,
})

export const found = (address: string, ttl = 60): LookupResult => ({ kind: 'found', addresses: [address], ttl })

/** An engine with a manual clock, and the messages it sends. */
export function engineOf(
  type: CheckType | undefined,
  more: (clock: ManualEngineClock) => Partial<EngineDependencies> = () => ({}),
) {
  const clock = new ManualEngineClock()
  const results: (CheckResult & { sentAt: number })[] = []
  const pulses: EnginePulse[] = []
  const messages: FromEngine[] = []
  const engine = new Engine({
    clock,
    names: namesOf(clock),
    typeOf: () => type,
    defaultRoute: () => true,
    maxInFlight: 1000,
    current: new CurrentCheck(),
    emit(message) {
      messages.push(message)
      if (message.kind === 'results') results.push(...message.results.map(one => ({ ...one, sentAt: clock.now() })))
      if (message.kind === 'pulse') pulses.push(message.pulse)
    },
    ...more(clock),
  })
  return { engine, clock, results, pulses, messages }
}
