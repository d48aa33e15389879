import { isIP } from 'node:net'

/**
 * A host as one would dial it: an IP literal without brackets, or an ASCII name in lower case without trailing dot.
 * Reads whatever the URL standard reads (127.1, 0x7f.1, 2130706433, full-width digits, IDN), so that no spelling of an
 * address escapes the rules for addresses. Null for what is neither: zone ids, empty labels, labels over 63 or names
 * over 253 characters (RFC 1035 2.3.4), characters no host name has.
 */
export function canonicalHost(text: string): string | null {
  if (isIP(text) === 6 && !text.includes('%')) return text.toLowerCase()
  if (text.startsWith('[') && text.endsWith(']')) return isIP(text.slice(1, -1)) === 6 ? canonicalHost(text.slice(1, -1)) : null
  // Characters at which the URL parser would stop reading the host, or read something else into it.
  if (/[\s\p{Cc}/\\?#@:%[\]]/u.test(text)) return null
  const parsed = URL.parse(`http://${text}/`)?.hostname
  if (!parsed) return null
  const name = parsed.endsWith('.') ? parsed.slice(0, -1) : parsed
  if (isIP(name) === 4) return name
  return isHostName(name) ? name : null
}

/**
 * Names that mean a machine or network of one's own whatever the resolver says: localhost (RFC 6761), .local
 * (RFC 6762), .home.arpa (RFC 8375) and .internal (reserved by ICANN in 2024).
 */
export function isPrivateName(name: string): boolean {
  return PRIVATE_SUFFIXES.some(suffix => name === suffix || name.endsWith(`.${suffix}`))
}

const PRIVATE_SUFFIXES = ['localhost', 'local', 'internal', 'home.arpa']

// Underscores are not in RFC 1123, but hosts behind wildcard records use them and resolvers answer.
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

function isHostName(name: string): boolean {
  return name.length <= 253 && name.split('.').every(label => LABEL.test(label))
}
