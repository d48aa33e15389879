import { isIP } from 'node:net'

/**
 * Normalizes a host: an IP address without brackets, or a lowercase ASCII name without a trailing dot. Accepts everything that the
 * URL standard accepts (127.1, 0x7f.1, 2130706433, full-width digits, IDN), so that no notation of an address bypasses the rules.
 * Returns null for zone IDs, empty labels, labels over 63 or names over 253 characters (RFC 1035 2.3.4), and invalid characters.
 */
export function canonicalHost(text: string): string | null {
  if (isIP(text) === 6 && !text.includes('%')) return text.toLowerCase()
  if (text.startsWith('[') && text.endsWith(']')) return isIP(text.slice(1, -1)) === 6 ? canonicalHost(text.slice(1, -1)) : null
  // Characters that the URL parser would not treat as part of the host.
  if (/[\s\p{Cc}/\\?#@:%[\]]/u.test(text)) return null
  const parsed = URL.parse(`http://${text}/`)?.hostname
  if (!parsed) return null
  const name = parsed.endsWith('.') ? parsed.slice(0, -1) : parsed
  if (isIP(name) === 4) return name
  return isHostName(name) ? name : null
}

/**
 * Whether a name always refers to the local machine or network: localhost (RFC 6761), .local (RFC 6762), .home.arpa (RFC 8375) and
 * .internal (reserved by ICANN in 2024).
 */
export function isPrivateName(name: string): boolean {
  return PRIVATE_SUFFIXES.some(suffix => name === suffix || name.endsWith(`.${suffix}`))
}

const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa']

// RFC 1123 does not allow underscores, but they are used in practice, for example with wildcard records.
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

function isHostName(name: string): boolean {
  return name.length <= 253 && name.split('.').every(label => LABEL.test(label))
}
