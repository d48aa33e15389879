import type { CheckContext } from '../../src/checks/check'
import { systemClock } from '../../src/core/clock'
import type { Listener } from '../../src/core/net/own-listeners'
import type { Resolver } from '../../src/core/net/resolvers'
import { createEgress, EgressRefused, type NetworkPolicy } from '../../src/core/net/egress'

/** Hostnames that checks in tests resolve, all to this machine. */
export const loopbackNames = ['a.test', 'b.test', 'proxy.test']

/**
 * The context of a running check like in an engine: egress guard, test hostnames, and a time limit.
 * @param settings.withinMs after which the signal aborts, unless the test provides its own
 */
export function checkContext(
  settings: {
    withinMs?: number
    signal?: AbortSignal
    policy?: Partial<NetworkPolicy>
    now?: number
    resolvers?: Resolver[]
    /** Sockets of the hub itself. */
    listeners?: Listener[]
  } = {},
): CheckContext & { lookups: string[] } {
  const lookups: string[] = []
  const policy = { allowPrivate: true, allowRanges: [], requireHttps: false, ...settings.policy }
  const egress = createEgress({
    ownListeners: () => settings.listeners ?? [],
    resolve: async name => {
      lookups.push(name)
      if (!loopbackNames.includes(name)) throw new Error('no such name')
      return ['127.0.0.1']
    },
  })
  return {
    lookups,
    async vet(host, port, family, purpose) {
      const vetted = await egress.vetHost(host, port, policy, purpose)
      if (family && vetted.family !== family) throw new EgressRefused('dns', `The host has no IPv${family} address.`)
      return vetted
    },
    resolvers: () => settings.resolvers ?? [],
    now: () => performance.now(),
    wallNow: () => settings.now ?? systemClock.now(),
    signal: settings.signal ?? AbortSignal.timeout(settings.withinMs ?? 60_000),
  }
}

/**
 * A time limit that starts when the server calls `start`. Unlike a limit for the whole check, it isn't reached before the server
 * is, however busy the machine is.
 */
export function limitOfServer(ms = 150): { signal: AbortSignal; start(): void } {
  const limit = new AbortController()
  return { signal: limit.signal, start: () => void setTimeout(() => limit.abort(), ms) }
}
