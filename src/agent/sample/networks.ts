import { perSecond, words, type DeviceFigures } from './figures'
import type { Root } from './root'

/** Interfaces of containers and virtual machines, and those that only the server itself uses. */
const notMeasured =
  /^(lo$|veth|cali|lxc[0-9a-f_]|tap|vnet|fwbr|fwpr|fwln|ifb|dummy|sit\d|tunl\d|ip6tnl\d|gre|erspan\d|ip_vti\d|ip6_vti\d|teql\d)/

export const isMeasured = (name: string): boolean => !notMeasured.test(name)

/**
 * Names of the interfaces to measure, of those in `/proc/net/dev`, with physical ones first. Bridges, bonds, and VLANs consist of others:
 * their traffic would be counted twice.
 */
export function interfaceNames(root: Root, counted: readonly string[]): string[] {
  const folder = (name: string) => `sys/class/net/${name}`
  const isVirtual = (name: string) => Number(!root.exists(`${folder(name)}/device`))
  return counted
    .filter(name => !root.names(folder(name)).some(file => file === 'bridge' || file.startsWith('lower_')))
    .toSorted((a, b) => isVirtual(a) - isVirtual(b))
}

/** `/proc/net/dev`, without interfaces that never received or sent anything. */
export function networks(text: string, seconds: number): DeviceFigures {
  const found: DeviceFigures = new Map()
  for (const line of text.split('\n').slice(2)) {
    // The name can contain colons, and large numbers directly follow the last one.
    const [, name, numbers] = /^\s*(.+):\s*(\d+(?:\s+\d+){15,})\s*$/.exec(line) ?? []
    if (name === undefined || !isMeasured(name)) continue
    const values = words(numbers!).map(Number) as number[]
    const [received, receivedPackets, receiveErrors, receiveDrops, , , , , sent, sentPackets, sendErrors, sendDrops] = values
    if (received === 0 && sent === 0) continue
    found.set(name, {
      'network.received_bytes_per_second': perSecond(received!, seconds),
      'network.sent_bytes_per_second': perSecond(sent!, seconds),
      'network.received_packets_per_second': perSecond(receivedPackets!, seconds),
      'network.sent_packets_per_second': perSecond(sentPackets!, seconds),
      'network.errors_per_second': perSecond(receiveErrors! + sendErrors!, seconds),
      'network.drops_per_second': perSecond(receiveDrops! + sendDrops!, seconds),
    })
  }
  return found
}

/** Network interfaces of the default routes, from `/proc/net/route` and `/proc/net/ipv6_route`. */
export function uplinks(root: Root): string[] {
  const routes = (file: string) => (root.text(`${root.network}/${file}`) ?? '').split('\n').map(words)
  const names = [
    // Destination and mask are zero, and the route is up.
    ...routes('route')
      .filter(one => one[1] === '00000000' && one[7] === '00000000' && (Number.parseInt(one[3]!, 16) & 1) === 1)
      .map(one => one[0]!),
    // Unreachable routes have the interface lo.
    ...routes('ipv6_route')
      .filter(one => /^0{32}$/.test(one[0]!) && one[1] === '00')
      .map(one => one[9]!),
  ]
  return [...new Set(names)].filter(name => name !== 'lo')
}
