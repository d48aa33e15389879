import { isSpf } from '../spf'

/** Types of which a name has one value. */
export const isSingle = (type: string): boolean => type === 'CNAME' || type === 'DNAME' || type === 'ALIAS'

/**
 * What a text says it is, in lower case, such as `spf1` or `dmarc1`: a name has one TXT of each. Null for texts of which there may be
 * several, such as proofs of ownership.
 */
export function tagOf(text: string): string | null {
  if (isSpf(text)) return 'spf1'
  return /^v=([a-z0-9]{3,20})\s*(?:;|$)/i.exec(text)?.[1]!.toLowerCase() ?? null
}

/** Whether records of two types cannot be at one name (RFC 1034 section 3.6.2, RFC 6672 section 2.3; ALIAS is answered as addresses). */
export function areRivals(type: string, other: string, isApex: boolean): boolean {
  if (type === other) return false
  const either = (one: string, ...others: string[]) =>
    (type === one && others.includes(other)) || (other === one && others.includes(type))
  if (type === 'CNAME' || other === 'CNAME') return !either('CNAME', 'DNSKEY', 'KEY')
  return either('ALIAS', 'A', 'AAAA') || (!isApex && either('DNAME', 'NS'))
}
