import { isSpf } from '../records/spf'

/** Types that can have only one value per name. */
export const isSingle = (type: string): boolean => type === 'CNAME' || type === 'DNAME' || type === 'ALIAS'

/**
 * Returns the version tag of a text in lower case, such as `spf1` or `dmarc1`. A name can have only one TXT record per tag. Null
 * for texts that can occur several times, such as domain verification values.
 */
export function tagOf(text: string): string | null {
  if (isSpf(text)) return 'spf1'
  return /^v=([a-z0-9]{3,20})\s*(?:;|$)/i.exec(text)?.[1]!.toLowerCase() ?? null
}

/** Whether two types can’t coexist at a name (RFC 1034 section 3.6.2, RFC 6672 section 2.3; ALIAS is answered with addresses). */
export function cannotCoexist(type: string, other: string, isApex: boolean): boolean {
  if (type === other) return false
  const either = (one: string, ...others: string[]) =>
    (type === one && others.includes(other)) || (other === one && others.includes(type))
  if (type === 'CNAME' || other === 'CNAME') return !either('CNAME', 'DNSKEY', 'KEY')
  return either('ALIAS', 'A', 'AAAA') || (!isApex && either('DNAME', 'NS'))
}
