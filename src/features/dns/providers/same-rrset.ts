import { rdataOfTxt, txtValue } from '../../../dns/rdata'
import { canonicalRdata } from '../../../dns/rdata-names'
import type { Op, ProviderRrset } from './provider'

/** Compares two rrsets: TTL and values, in any order and in canonical form (RFC 4034 section 6.2). Null means absent. */
export function sameRrset(a: ProviderRrset | null, b: ProviderRrset | null): boolean {
  if (a === null || b === null) return a === b
  return a.name === b.name && a.type === b.type && a.ttl === b.ttl && sameValues(a.type, a.values, b.values)
}

/** Compares two sets of rdata of one type. */
export function sameValues(type: string, a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  const [left, right] = [sortedKeys(type, a), sortedKeys(type, b)]
  return left.every((key, place) => key === right[place])
}

/** Returns whether an rrset is still as it was read: values, with TXT strings joined; TTL; and `proxied` if known. */
export function isUnchanged({ before }: Op, there: ProviderRrset | undefined): boolean {
  if (!before || !there) return !before && !there
  const proxied = before.options?.proxied
  const cut = (value: Uint8Array) => rechunked(before.type, value)
  return (
    before.ttl === there.ttl &&
    (proxied === undefined || proxied === there.options?.proxied) &&
    sameValues(before.type, before.values.map(cut), there.values.map(cut))
  )
}

/** Normalizes how TXT rdata is split into strings, to compare with providers that split it themselves. */
export const rechunked = (type: string, value: Uint8Array): Uint8Array =>
  type === 'TXT' || type === 'SPF' ? rdataOfTxt(txtValue(value)) : value

const sortedKeys = (type: string, values: readonly Uint8Array[]): string[] => values.map(value => valueKey(type, value)).sort()

/** The same for equal values. */
export const valueKey = (type: string, value: Uint8Array): string => Buffer.from(canonicalRdata(type, value)).toString('latin1')
