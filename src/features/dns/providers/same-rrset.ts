import { rdataOfTxt, txtValue } from '../../../core/dns/rdata'
import { canonicalRdata } from '../../../core/dns/rdata-names'
import type { ProviderRrset } from './provider'

/** Whether two rrsets are equal: TTL and values, in any order and compared as on the wire (RFC 4034 6.2). Null is no rrset. */
export function sameRrset(a: ProviderRrset | null, b: ProviderRrset | null): boolean {
  if (a === null || b === null) return a === b
  return a.name === b.name && a.type === b.type && a.ttl === b.ttl && sameValues(a.type, a.values, b.values)
}

/** Whether two sets of rdata of one type are equal. */
export function sameValues(type: string, a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  const [left, right] = [sortedKeys(type, a), sortedKeys(type, b)]
  return left.every((key, place) => key === right[place])
}

/** By name and type: what one step of a plan is about. */
export const stepKey = ({ name, type }: { name: string; type: string }): string => `${name} ${type}`

/** Rdata of TXT with its strings cut in the one way, for comparing with a provider that cuts them itself. */
export const rechunked = (type: string, value: Uint8Array): Uint8Array =>
  type === 'TXT' || type === 'SPF' ? rdataOfTxt(txtValue(value)) : value

const sortedKeys = (type: string, values: readonly Uint8Array[]): string[] => values.map(value => valueKey(type, value)).sort()

/** Equal for values that are equal. */
export const valueKey = (type: string, value: Uint8Array): string => Buffer.from(canonicalRdata(type, value)).toString('latin1')
