import type { Octets } from './octets'
import { fieldsOf } from './rdata'

/** A property of a CAA record (RFC 8659 section 4.1). */
export interface CaaProperty {
  flags: number
  tag: string
  value: string
}

/** Reads the property of a CAA record. A value that isn’t text is empty, which permits nobody. */
export function caaProperty(rdata: Uint8Array): CaaProperty {
  const { flags, tag, value } = fieldsOf('CAA', rdata) as unknown as { flags: number; tag: string; value: Octets }
  return { flags, tag, value: typeof value === 'string' ? value : '' }
}

/** Who wants to issue a certificate, as CAA records identify it. */
export interface CaaIssuer {
  /** Names of the certificate authority; at least one. */
  identities: readonly string[]
  /** The ACME account. Null if it is not known: then parameters that restrict accounts and methods are not considered. */
  accountUrl: string | null
}

/** Properties that this code understands; unknown critical ones forbid everything (RFC 8659 section 4.1). */
const known = new Set(['issue', 'issuewild', 'iodef', 'contactemail', 'contactphone', 'issuemail', 'issuevmc'])
const isCritical = ({ flags }: CaaProperty) => (flags & 128) !== 0

/** Whether CAA records permit an authority to issue for a name by DNS-01 (RFC 8659 section 4, RFC 8657). */
export function isPermitted(properties: readonly CaaProperty[], isWildcard: boolean, issuer: CaaIssuer): boolean {
  if (properties.some(one => isCritical(one) && !known.has(one.tag.toLowerCase()))) return false
  const withTag = (tag: string) => properties.filter(one => one.tag.toLowerCase() === tag)
  const wild = isWildcard ? withTag('issuewild') : []
  const relevant = wild.length > 0 ? wild : withTag('issue')
  return relevant.length === 0 || relevant.some(one => permits(one.value, issuer))
}

function permits(value: string, { identities, accountUrl }: CaaIssuer): boolean {
  const [domain = '', ...parameters] = value.split(';').map(part => part.trim())
  if (!identities.includes(domain.toLowerCase())) return false
  if (accountUrl === null) return true
  return parameters.every(parameter => {
    const [, name = '', of = ''] = /^([^=]*)=(.*)$/.exec(parameter) ?? []
    if (name.trim().toLowerCase() === 'accounturi') return of.trim() === accountUrl
    if (name.trim().toLowerCase() === 'validationmethods') return of.split(',').some(one => one.trim().toLowerCase() === 'dns-01')
    return true
  })
}
