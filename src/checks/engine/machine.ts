import { readFileSync, statSync } from 'node:fs'
import { classOf, parseAddress } from '../../core/net/address'
import { systemResolve } from '../../core/net/egress'
import { interfaceAddresses } from '../../core/net/own-listeners'
import { resolversIn, type Resolver } from '../../core/net/resolvers'
import { inTurn } from '../in-turn'
import type { EngineClock } from './clock'
import { addressesByHost } from './hosts-file'
import { askResolvers } from './name-answer'
import type { ResolverGround } from './resolver'

const lookAgainMs = 5000
// What runs at most beside each other in the system's resolver, which may hold a thread for each.
const mostOfSystem = 8

/** What the files of this machine say of names. They are read again when they have changed. @param resolvers asked instead of those of resolv.conf(5) */
export function machineGround(clock: EngineClock, resolvers: readonly Resolver[] | null): ResolverGround {
  const resolvConf = watched(clock, '/etc/resolv.conf', text => {
    const named = resolversIn(text)
    return {
      resolvers: named.length > 0 ? named : [{ address: '127.0.0.1', port: 53 }],
      search: /^\s*(search|domain)\s+[^.\s]/m.test(text),
    }
  })
  const hosts = watched(clock, '/etc/hosts', addressesByHost)
  const prefersIPv6 = every(clock, lookAgainMs, () =>
    interfaceAddresses().some(text => {
      const address = parseAddress(text)
      return address?.kind() === 'ipv6' && classOf(address) === 'public'
    }),
  )
  const asked = () => resolvers ?? resolvConf().resolvers
  return {
    ask: askResolvers(asked, () => clock.now()),
    resolvers: asked,
    clock,
    hosts: name => hosts().get(name),
    system: inTurn(mostOfSystem, systemResolve),
    hasSearchList: () => resolvConf().search,
    prefersIPv6,
  }
}

/**
 * Whether this machine has a route to other networks; null where that cannot be told. Read anew when it was read more than a second ago.
 */
export function defaultRoute(clock: EngineClock): () => boolean | null {
  return every(clock, 1000, () => {
    const [v4, v6] = [textOf('/proc/net/route'), textOf('/proc/net/ipv6_route')]
    if (v4 === null && v6 === null) return null
    // Interface, destination, gateway, flags, …, all in hexadecimal; and destination, its length, …, interface (proc_net(5)).
    const isDefault4 = /^(?!lo\s)\S+\s+00000000\s+/m.test(v4 ?? '')
    return isDefault4 || /^0{32} 00 .*\s(?!lo$)\S+$/m.test(v6 ?? '')
  })
}

/** Files that may be open at once, as far as the system tells. */
export function mostOpenFiles(): number {
  const soft = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits') ?? '')?.[1]
  // What macOS grants a process (OPEN_MAX).
  return soft ? Number(soft) : 10_240
}

function every<T>(clock: EngineClock, ms: number, read: () => T): () => T {
  let kept: { value: T; at: number } | undefined
  return () => {
    const now = clock.monotonic()
    if (!kept || now - kept.at >= ms) kept = { value: read(), at: now }
    return kept.value
  }
}

/** What a file says, read again when it is another file than five seconds ago. */
function watched<T>(clock: EngineClock, path: string, read: (text: string) => T): () => T {
  let mark = ''
  let value: T | undefined
  return every(clock, lookAgainMs, () => {
    const stat = statSync(path, { throwIfNoEntry: false })
    const now = stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : ''
    if (value === undefined || now !== mark) value = read(textOf(path) ?? '')
    mark = now
    return value
  })
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
