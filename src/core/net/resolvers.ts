import { parseAddress } from './address'

/** Address and port of a DNS resolver. */
export interface Resolver {
  address: string
  port: number
}

const dnsPort = 53
const systemFile = '/etc/resolv.conf'

/** Parses an IP address with an optional port; IPv6 with a port is in brackets. Returns null if it is invalid. */
export function resolverOf(text: string): Resolver | null {
  const match = /^(?:\[([^\]]+)\]:(\d{1,5})|([\d.]+):(\d{1,5})|([^\s[\]]+))$/.exec(text)
  if (!match) return null
  const address = match[1] ?? match[3] ?? match[5]!
  const port = Number(match[2] ?? match[4] ?? dnsPort)
  return parseAddress(address) && port > 0 && port < 65_536 ? { address, port } : null
}

/** Returns the resolvers of the machine, in order. Defaults to the local machine (resolv.conf(5)). */
export async function systemResolvers(): Promise<Resolver[]> {
  const text = await Bun.file(systemFile)
    .text()
    .catch(() => '')
  const named = resolversIn(text)
  return named.length > 0 ? named : [{ address: '127.0.0.1', port: dnsPort }]
}

/** Returns the addresses in a file in resolv.conf(5) format. */
export const resolversIn = (text: string): Resolver[] =>
  text.split('\n').flatMap(line => {
    const address = /^\s*nameserver\s+(\S+)/.exec(line)?.[1]
    return address && parseAddress(address) ? [{ address, port: dnsPort }] : []
  })
