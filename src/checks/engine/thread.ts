import { GarbageCollector } from '../../core/garbage-collector'
import type { Resolver } from '../../core/net/resolvers'
import { largeMonitorCount, type CheckType } from '../check'
import { checkTypeOf } from '../index'
import { systemPingMethods } from '../ping/methods'
import type { EngineCapabilities, FromEngine, ToEngine } from '../messages'
import { systemEngineClock as clock } from './clock'
import { CurrentCheck } from './current-check'
import { Engine, type EngineDependencies } from './engine'
import { defaultRoute, systemResolver, maxOpenFiles } from './system'

/** Messages to the thread: first the name servers to use and memory for the current check, once; then any message to an engine. */
export type ToThread = { kind: 'begin'; resolvers: Resolver[] | null; current: SharedArrayBuffer } | ToEngine

/** Messages from the thread. */
export type FromThread = FromEngine | { kind: 'stopped' }

// Far above normal load; bounds the worst case.
const maxChecks = 12_000
// Reserved for everything else this program opens.
const otherFiles = 1000

/** The entry point of the thread that runs a hub's checks. @param typeOf replaced in tests */
export function runChecks(typeOf: (name: string) => CheckType | undefined = checkTypeOf): void {
  const thread = globalThis as unknown as {
    postMessage(message: FromThread): void
    onmessage: (event: { data: ToThread }) => void
  }
  let engine: Engine | null = null
  const garbage = new GarbageCollector({ youngMs: 3_000, fullMs: 20_000 })
  const emit = (message: FromEngine) => {
    thread.postMessage(message)
    if (message.kind === 'pulse' && message.pulse.monitors >= largeMonitorCount) setImmediate(() => garbage.collect())
  }
  thread.onmessage = ({ data }) => {
    if (data.kind === 'begin') engine = createEngine(data, typeOf, emit)
    else engine?.handle(data)
    if (data.kind === 'stop') thread.postMessage({ kind: 'stopped' })
  }
}

function createEngine(
  { resolvers, current }: ToThread & { kind: 'begin' },
  typeOf: EngineDependencies['typeOf'],
  emit: EngineDependencies['emit'],
): Engine {
  const maxInFlight = Math.min(maxChecks, Math.max(maxOpenFiles() - otherFiles, 100))
  const capabilities: EngineCapabilities = { icmp: systemPingMethods().capability(), max_in_flight: maxInFlight }
  emit({ kind: 'ready', capabilities })
  return new Engine({
    clock,
    names: systemResolver(clock, resolvers),
    typeOf,
    defaultRoute: defaultRoute(clock),
    maxInFlight,
    current: new CurrentCheck(current),
    emit,
  })
}
