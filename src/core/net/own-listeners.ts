import { networkInterfaces } from 'node:os'
import { type Address, classOf, effectiveAddress, formatAddress, parseAddress } from './address'

/** A socket the hub listens on: an address or host name as given to listen, and the port it got. */
export type Listener = { address: string; port: number }

/** True when connecting to the address and port would reach the hub itself. `ownAddresses` is read only when needed. */
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
  // Dialling 0.0.0.0 or :: ends at this machine's loopback on Linux and macOS.
  if (kind === 'unspecified') return true
  if (listenAddress.toLowerCase() === 'localhost') return kind === 'loopback'
  const listening = parseAddress(listenAddress.replace(/^\[|\]$/g, ''))
  if (listening && classOf(listening) !== 'unspecified') return formatAddress(listening) === formatAddress(target)
  // A wildcard, or a name whose addresses are not known here: any address of this machine. Families are not told
  // apart, since a socket on :: takes IPv4 as well.
  return kind === 'loopback' || ownAddresses().some(own => sameAddress(own, target))
}

function sameAddress(text: string, target: Address): boolean {
  const address = parseAddress(text.split('%')[0] ?? '')
  return address !== null && formatAddress(address) === formatAddress(target)
}
