import { parse } from 'tldts'
import { canonicalHost } from '../../core/net/host-name'

/** A name that can be registered at a registry. Both parts are A-labels in lowercase without a trailing dot. */
interface RegistrableName {
  name: string
  /** Its last label, such as `uk` for `example.co.uk`. */
  tld: string
}

/**
 * The part of a host that was registered, by the ICANN section of the Public Suffix List: `example.co.uk` for `www.example.co.uk`. Null
 * for IP addresses, for public suffixes, and for names below a top-level domain that is not in the list, such as `nas.lan`.
 */
export function registrableName(host: string): RegistrableName | null {
  // Underscores and wildcards occur in names of DNS records.
  const canonical = canonicalHost(host.replace(/\.$/, '').replace(/^\*\./, ''))
  if (canonical === null) return null
  const { domain, isIcann } = parse(canonical, { allowPrivateDomains: false, extractHostname: false })
  if (domain === null || !isIcann) return null
  return { name: domain, tld: domain.slice(domain.lastIndexOf('.') + 1) }
}
