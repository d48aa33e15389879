import type { Around } from '../../src/checks/check'
import { systemClock } from '../../src/core/clock'
import type { Resolver } from '../../src/core/net/resolvers'
import { createEgress, EgressRefused, type NetworkPolicy } from '../../src/core/net/egress'

/** Names that checks of tests know, all of this machine. */
export const loopbackNames = ['a.test', 'b.test', 'proxy.test']

/**
 * What a running check may use, as an engine gives it: the guard of the hub, names of tests, and a limit of time.
 * @param withinMs after which the signal aborts
 */
export function around(
  given: { withinMs?: number; policy?: Partial<NetworkPolicy>; now?: number; resolvers?: Resolver[] } = {},
): Around & { asked: string[] } {
  const asked: string[] = []
  const policy = { allowPrivate: true, allowRanges: [], requireHttps: false, ...given.policy }
  const egress = createEgress({
    ownListeners: () => [],
    resolve: async name => {
      asked.push(name)
      if (!loopbackNames.includes(name)) throw new Error('no such name')
      return ['127.0.0.1']
    },
  })
  return {
    asked,
    async vet(host, port, family) {
      const vetted = await egress.vetHost(host, port, policy)
      if (family && vetted.family !== family) throw new EgressRefused('dns', `The host has no IPv${family} address.`)
      return vetted
    },
    resolvers: () => given.resolvers ?? [],
    now: () => performance.now(),
    wallNow: () => given.now ?? systemClock.now(),
    signal: AbortSignal.timeout(given.withinMs ?? 15_000),
  }
}
