import { Garbage } from '../../core/garbage'
import type { Resolver } from '../../core/net/resolvers'
import type { CheckType } from '../check'
import { checkTypeOf } from '../index'
import { ownPingWays } from '../ping/ways'
import type { EngineCapabilities, FromEngine, ToEngine } from '../messages'
import { systemEngineClock as clock } from './clock'
import { Engine, type EngineGround } from './engine'
import { defaultRoute, machineGround, mostOpenFiles } from './machine'

/** What the thread is told: where names are looked up, once and first of all; then what any engine is told. */
export type ToThread = { kind: 'begin'; resolvers: Resolver[] | null } | ToEngine

/** What the thread tells. */
export type FromThread = FromEngine | { kind: 'stopped' }

// Normal load is far below; it is a bound for the worst hour.
const mostChecks = 12_000
// For whatever else this program has open.
const otherFiles = 1000
const lookMs = 1000
// Below, what the runtime does by itself is little.
const manyMonitors = 1000

/** The thread in which a hub's checks run. @param typeOf those of this program; tests have their own */
export function runChecks(typeOf: (name: string) => CheckType | undefined = checkTypeOf): void {
  const thread = globalThis as unknown as {
    postMessage(message: FromThread): void
    onmessage: (event: { data: ToThread }) => void
  }
  let engine: Engine | null = null
  const garbage = new Garbage({ youngMs: 3_000, allMs: 20_000 })
  setInterval(() => {
    if (engine && engine.size >= manyMonitors) garbage.collect()
  }, lookMs)
  thread.onmessage = ({ data }) => {
    if (data.kind === 'begin') engine = begin(data.resolvers, typeOf, message => thread.postMessage(message))
    else engine?.take(data)
    if (data.kind === 'stop') thread.postMessage({ kind: 'stopped' })
  }
}

function begin(resolvers: Resolver[] | null, typeOf: EngineGround['typeOf'], tell: EngineGround['tell']): Engine {
  const mostInFlight = Math.min(mostChecks, Math.max(mostOpenFiles() - otherFiles, 100))
  const capabilities: EngineCapabilities = { icmp: ownPingWays().capability(), most_in_flight: mostInFlight }
  tell({ kind: 'ready', capabilities })
  return new Engine({
    clock,
    names: machineGround(clock, resolvers),
    typeOf,
    defaultRoute: defaultRoute(clock),
    mostInFlight,
    tell,
  })
}
