import { isIP } from 'node:net'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'

/** The site that passkeys are bound to: the WebAuthn relying party and its origin. */
export interface PasskeySite {
  rpId: string
  origin: string
}

/** Why passkeys cannot be used at the base URL of this hub. */
type PasskeysUnavailable = 'ip_address' | 'plain_http'

/**
 * The site that passkeys are bound to. The id of a relying party must be a domain, not an IP address (WebAuthn level 3, section
 * 5.1.3), and passkeys are only available in secure contexts: over HTTPS, or on localhost (Secure Contexts, section 3.1).
 */
export function passkeySite({ baseUrl }: Pick<Hub, 'baseUrl'>): PasskeySite | { reason: PasskeysUnavailable } {
  const { hostname, origin, protocol } = new URL(baseUrl)
  if (isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0) return { reason: 'ip_address' }
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  return protocol === 'https:' || isLocal ? { rpId: hostname, origin } : { reason: 'plain_http' }
}

/** @throws Problem 409 `passkeys_unavailable` */
export function requirePasskeySite(hub: Hub): PasskeySite {
  const site = passkeySite(hub)
  if ('rpId' in site) return site
  throw new Problem('passkeys_unavailable', unavailableDetail[site.reason], { fields: { reason: site.reason } })
}

const unavailableDetail: Record<PasskeysUnavailable, string> = {
  ip_address:
    'Passkeys need a hostname, but the URL of this hub uses an IP address. The operator can set a hostname with ' +
    'BAILIWICK_BASE_URL.',
  plain_http: 'Passkeys need HTTPS, or localhost. The operator can set an https URL with BAILIWICK_BASE_URL.',
}
