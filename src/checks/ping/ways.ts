import type { EngineCapabilities } from '../messages'
import { pingCommand } from './command'
import type { Family } from './echo'
import { linuxKernel, type IcmpKernel } from './kernel'
import { Pinger, socketKind } from './pinger'
import type { PingWay } from './series'

/** What pings on this machine are sent by. */
export interface PingWays {
  /** Null: nothing is allowed to. What is told is looked at again when it was nothing a minute ago. */
  of(family: Family): PingWay | null
  capability(): EngineCapabilities['icmp']
}

/** Where nothing works: what to do about it. */
export const howToAllow =
  'Let the group of the hub send pings with the setting net.ipv4.ping_group_range="0 2147483647" of sysctl (of a container: --sysctl), or give the program the capability CAP_NET_RAW.'

/** @param now monotonic milliseconds */
export function pingWays(
  kernel: IcmpKernel | null = linuxKernel(),
  command: () => PingWay | null = pingCommand,
  now: () => number = () => performance.now(),
): PingWays {
  const found = new Map<Family, { way: PingWay | null; at: number }>()
  let byCommand: PingWay | null | undefined
  const find = (family: Family): PingWay | null => {
    const kind = kernel ? socketKind(kernel, family) : null
    if (kernel && typeof kind === 'string') return new Pinger(kernel, family, kind)
    byCommand = byCommand ?? command()
    return byCommand
  }
  const of = (family: Family): PingWay | null => {
    const known = found.get(family)
    if (known && (known.way || now() - known.at < againMs)) return known.way
    const way = find(family)
    found.set(family, { way, at: now() })
    return way
  }
  return {
    of,
    capability() {
      const way = of(4) ?? of(6)
      if (!way) return { by: 'none', problem: `This hub may not send pings. ${howToAllow}` }
      if (way.by !== 'ping_command') return { by: way.by, problem: null }
      return { by: way.by, problem: `A program is started for each ping, which takes time and memory. ${howToAllow}` }
    },
  }
}

const againMs = 60_000

let own: PingWays | undefined

/** Those of this thread, found when they are first asked for. */
export const ownPingWays = (): PingWays => (own ??= pingWays())
