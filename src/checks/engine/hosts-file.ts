import { canonicalHost } from '../../core/net/host-name'
import { parseAddress } from '../../core/net/address'

/** The addresses of each name in a file in the form of hosts(5), in its order. Names are canonical. */
export function addressesByHost(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (!address || !parseAddress(address)) continue
    for (const name of names) {
      const host = canonicalHost(name)
      if (host) found.set(host, [...new Set([...(found.get(host) ?? []), address])])
    }
  }
  return found
}
