import { parseAddress } from './address'

/** A resolver to ask: an address, and the port that it answers on. */
export interface Resolver {
  address: string
  port: number
}

const dnsPort = 53
const systemFile = '/etc/resolv.conf'

/** An address, with a port behind a colon or not; of IPv6 with a port it is in brackets. Null for what is none. */
export function resolverOf(text: string): Resolver | null {
  const match = /^(?:\[([^\]]+)\]:(\d{1,5})|([\d.]+):(\d{1,5})|([^\s[\]]+))$/.exec(text)
  if (!match) return null
  const address = match[1] ?? match[3] ?? match[5]!
  const port = Number(match[2] ?? match[4] ?? dnsPort)
  return parseAddress(address) && port > 0 && port < 65_536 ? { address, port } : null
}

/** The resolvers of the machine, in the order in which they are to be asked; the one on itself where it names none (resolv.conf(5)). */
export async function systemResolvers(): Promise<Resolver[]> {
  const text = await Bun.file(systemFile)
    .text()
    .catch(() => '')
  const named = resolversIn(text)
  return named.length > 0 ? named : [{ address: '127.0.0.1', port: dnsPort }]
}

/** The addresses of a file in the form of resolv.conf(5). */
export const resolversIn = (text: string): Resolver[] =>
  text.split('\n').flatMap(line => {
    const address = /^\s*nameserver\s+(\S+)/.exec(line)?.[1]
    return address && parseAddress(address) ? [{ address, port: dnsPort }] : []
  })
