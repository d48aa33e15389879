import { isIP } from 'node:net'
import type { Hub } from '../core/hub'
import { Problem } from '../core/problem'

/** The site that passkeys are bound to: the relying party of WebAuthn, and the origin of its pages. */
export interface PasskeySite {
  rpId: string
  origin: string
}

/** Why browsers make no passkeys at the address of this hub. */
export type NoPasskeys = 'ip_address' | 'plain_http'

/**
 * Where passkeys are bound to. The id of a relying party is a domain, and no IP address (WebAuthn level 3, section 5.1.3), and pages
 * have passkeys in a secure context alone: over HTTPS, or at localhost (Secure Contexts, section 3.1).
 */
export function passkeySite({ baseUrl }: Pick<Hub, 'baseUrl'>): PasskeySite | { reason: NoPasskeys } {
  const { hostname, origin, protocol } = new URL(baseUrl)
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return { reason: 'ip_address' }
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  return protocol === 'https:' || isLocal ? { rpId: hostname, origin } : { reason: 'plain_http' }
}

/** @throws Problem 409 `passkeys_unavailable` */
export function requirePasskeySite(hub: Hub): PasskeySite {
  const site = passkeySite(hub)
  if ('rpId' in site) return site
  throw new Problem('passkeys_unavailable', because[site.reason], { members: { reason: site.reason } })
}

const because: Record<NoPasskeys, string> = {
  ip_address:
    'The address of this hub is an IP address, and passkeys are bound to a name: the operator gives it one with BAILIWICK_BASE_URL.',
  plain_http:
    'Browsers have passkeys over HTTPS alone, and at localhost: the operator sets an https address with BAILIWICK_BASE_URL.',
}
