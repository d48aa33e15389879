import { domainToUnicode } from 'node:url'
import { parse } from 'tldts'
import { parseAddress } from '../../core/net/address'
import { canonicalHost } from '../../core/net/host-name'

/** A name that can be registered. A-labels in lowercase without a trailing dot, except for `unicodeName`. */
interface DomainName {
  name: string
  unicodeName: string
  /** Its last label, such as `uk` for `example.co.uk`. */
  tld: string
}

type NameProblem = { code: 'format' | 'public_suffix' | 'private_suffix'; detail: string }

const maxLabelOctets = 63

/**
 * The registrable part of a host, by the Public Suffix List: `example.co.uk` for `www.example.co.uk`. A problem for everything that can’t
 * be registered: IP addresses, suffixes, names below a private suffix such as `github.io`, and unknown top-level domains.
 */
export function registrablePart(text: string): DomainName | NameProblem {
  const host = text.replace(/\.$/, '')
  const format = (detail: string): NameProblem => ({ code: 'format', detail })
  if (host === '') return format('must not be empty.')
  if (/[/:@]/.test(host) && !parseAddress(host))
    return format('must be a domain name such as example.com, without a scheme, port, or path.')
  if (host.split('.').includes('')) return format('must not have an empty label.')
  const name = canonicalHost(host)
  if (name === null)
    return format(
      host.split('.').some(label => Buffer.byteLength(label) > maxLabelOctets)
        ? `must not have labels over ${maxLabelOctets} octets.`
        : 'must be a domain name. Labels consist of letters, digits, and hyphens, and don’t start or end with a hyphen.',
    )
  if (parseAddress(name)) return format('must be a domain name, not an IP address.')
  if (name.includes('_')) return format('must not contain underscores, which can’t be registered.')
  const found = parse(name, { allowPrivateDomains: true, extractHostname: false })
  if (found.isPrivate)
    return {
      code: 'private_suffix',
      detail: `belongs to the private suffix ${found.publicSuffix}, whose owner manages the names below it. They have no registration of their own.`,
    }
  if (!found.isIcann) return { code: 'public_suffix', detail: 'must end in a top-level domain of the Public Suffix List.' }
  if (found.domain === null)
    return { code: 'public_suffix', detail: `is a public suffix. Enter a name below it, such as example.${name}.` }
  const { domain } = found
  return {
    name: domain,
    unicodeName: domainToUnicode(domain) || domain,
    tld: domain.slice(domain.lastIndexOf('.') + 1),
  }
}

/** Like `registrablePart`, but a problem for hosts below a registrable name too. */
export function domainNameOf(text: string): DomainName | NameProblem {
  const found = registrablePart(text)
  if ('code' in found || canonicalHost(text.replace(/\.$/, '')) === found.name) return found
  return { code: 'format', detail: `must be a registrable name. Did you mean ${found.name}?` }
}
