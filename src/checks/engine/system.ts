import { readFileSync, statSync } from 'node:fs'
import { classOf, parseAddress } from '../../core/net/address'
import { systemResolve } from '../../core/net/egress'
import { interfaceAddresses } from '../../core/net/own-listeners'
import { resolversIn, type Resolver } from '../../core/net/resolvers'
import { limitConcurrency } from '../concurrency-limit'
import type { EngineClock } from './clock'
import { addressesByHost } from './hosts-file'
import { resolverLookup } from './name-lookup'
import type { ResolverDependencies } from './resolver'

const recheckMs = 5000
// The system resolver may block a thread for each lookup.
const maxSystemLookups = 8

/** Name resolution as configured on this machine; its files are reread when they change. @param resolvers replace those of resolv.conf(5) */
export function systemResolver(clock: EngineClock, resolvers: readonly Resolver[] | null): ResolverDependencies {
  const resolvConf = watched(clock, '/etc/resolv.conf', text => {
    const named = resolversIn(text)
    return {
      resolvers: named.length > 0 ? named : [{ address: '127.0.0.1', port: 53 }],
      search: /^\s*(search|domain)\s+[^.\s]/m.test(text),
    }
  })
  const hosts = watched(clock, '/etc/hosts', addressesByHost)
  const prefersIPv6 = cachedFor(clock, recheckMs, () =>
    interfaceAddresses().some(text => {
      const address = parseAddress(text)
      return address?.kind() === 'ipv6' && classOf(address) === 'public'
    }),
  )
  const current = () => resolvers ?? resolvConf().resolvers
  return {
    lookUp: resolverLookup(current, () => clock.now()),
    resolvers: current,
    clock,
    hosts: name => hosts().get(name),
    system: limitConcurrency(maxSystemLookups, systemResolve),
    hasSearchList: () => resolvConf().search,
    prefersIPv6,
  }
}

/** Whether this machine has a default route; null if unknown. Cached for a second. */
export function defaultRoute(clock: EngineClock): () => boolean | null {
  return cachedFor(clock, 1000, () => {
    const [v4, v6] = [textOf('/proc/net/route'), textOf('/proc/net/ipv6_route')]
    if (v4 === null && v6 === null) return null
    // Fields, in hexadecimal: interface, destination, gateway, flags, …; and destination, prefix length, …, interface (proc_net(5)).
    const isDefault4 = /^(?!lo\s)\S+\s+00000000\s+/m.test(v4 ?? '')
    return isDefault4 || /^0{32} 00 .*\s(?!lo$)\S+$/m.test(v6 ?? '')
  })
}

/** The soft limit of open files, if the system reports it. */
export function maxOpenFiles(): number {
  const soft = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits') ?? '')?.[1]
  // The default on macOS (OPEN_MAX).
  return soft ? Number(soft) : 10_240
}

function cachedFor<T>(clock: EngineClock, ms: number, read: () => T): () => T {
  let cached: { value: T; at: number } | undefined
  return () => {
    const now = clock.monotonic()
    if (!cached || now - cached.at >= ms) cached = { value: read(), at: now }
    return cached.value
  }
}

/** The parsed content of a file, checked for changes every five seconds. */
function watched<T>(clock: EngineClock, path: string, read: (text: string) => T): () => T {
  let version = ''
  let value: T | undefined
  return cachedFor(clock, recheckMs, () => {
    const stat = statSync(path, { throwIfNoEntry: false })
    const current = stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : ''
    if (value === undefined || current !== version) value = read(textOf(path) ?? '')
    version = current
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
