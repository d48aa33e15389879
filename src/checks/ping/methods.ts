import type { EngineCapabilities } from '../messages'
import { pingCommand } from './command'
import type { Family } from './echo'
import { linuxKernel, type IcmpKernel } from './kernel'
import { Pinger, socketKind } from './pinger'
import type { PingMethod } from './series'

/** The ways this machine can send pings. */
export interface PingMethods {
  /** The method for a family; null if none is permitted. A missing method is looked for again after a minute. */
  of(family: Family): PingMethod | null
  capability(): EngineCapabilities['icmp']
}

/** What to do if no method works. */
export const permissionHint =
  'Allow it with the sysctl net.ipv4.ping_group_range="0 2147483647" (in a container: --sysctl), or give the program the capability CAP_NET_RAW.'

/** @param now monotonic milliseconds */
export function findPingMethods(
  kernel: IcmpKernel | null = linuxKernel(),
  command: () => PingMethod | null = pingCommand,
  now: () => number = () => performance.now(),
): PingMethods {
  const cache = new Map<Family, { method: PingMethod | null; at: number }>()
  let commandMethod: PingMethod | null | undefined
  const find = (family: Family): PingMethod | null => {
    const kind = kernel ? socketKind(kernel, family) : null
    if (kernel && typeof kind === 'string') return new Pinger(kernel, family, kind)
    commandMethod ??= command()
    return commandMethod
  }
  const of = (family: Family): PingMethod | null => {
    const cached = cache.get(family)
    if (cached && (cached.method || now() - cached.at < retryAfterMs)) return cached.method
    const method = find(family)
    cache.set(family, { method, at: now() })
    return method
  }
  return {
    of,
    capability() {
      const method = of(4) ?? of(6)
      if (!method) return { method: 'none', problem: `This hub is not allowed to send pings. ${permissionHint}` }
      if (method.name !== 'ping_command') return { method: method.name, problem: null }
      return {
        method: method.name,
        problem: `Each check starts the ping program, which takes time and memory. ${permissionHint}`,
      }
    },
  }
}

const retryAfterMs = 60_000

let systemMethods: PingMethods | undefined

/** The methods of this machine, detected on first use. */
export const systemPingMethods = (): PingMethods => (systemMethods ??= findPingMethods())
