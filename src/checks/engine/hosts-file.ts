import { canonicalHost } from '../../core/net/host-name'
import { parseAddress } from '../../core/net/address'

/** Addresses by canonical name from a file in hosts(5) format, in order. */
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
