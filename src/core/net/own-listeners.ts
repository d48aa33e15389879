import { networkInterfaces } from 'node:os'
import { type Address, classOf, effectiveAddress, formatAddress, parseAddress } from './address'

/** A listening socket of the hub: the configured address or hostname, and the actual port. */
export type Listener = { address: string; port: number; isNameServer?: boolean }

/** Whether a connection to the address and port would reach the hub itself. `ownAddresses` is only called when needed. */
export function isOwnListener(
  address: Address,
  port: number,
  listeners: readonly Listener[],
  ownAddresses: () => readonly string[],
): boolean {
  const target = effectiveAddress(address)
  return listeners.some(listener => listener.port === port && reaches(target, listener.address, ownAddresses))
}

/** The addresses of this machine's interfaces, in text form. */
export function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap(entries => (entries ?? []).map(entry => entry.address))
}

function reaches(target: Address, listenAddress: string, ownAddresses: () => readonly string[]): boolean {
  const kind = classOf(target)
  // On Linux and macOS, connections to 0.0.0.0 or :: reach the loopback interface.
  if (kind === 'unspecified') return true
  if (listenAddress.toLowerCase() === 'localhost') return kind === 'loopback'
  const listening = parseAddress(listenAddress.replace(/^\[|\]$/g, ''))
  if (listening && classOf(listening) !== 'unspecified') return formatAddress(listening) === formatAddress(target)
  // A wildcard, or a name with unknown addresses: treat it as any address of this machine. Ignores the address family, because a
  // socket on :: also accepts IPv4.
  return kind === 'loopback' || ownAddresses().some(own => sameAddress(own, target))
}

function sameAddress(text: string, target: Address): boolean {
  const address = parseAddress(text.split('%')[0] ?? '')
  return address !== null && formatAddress(address) === formatAddress(target)
}
