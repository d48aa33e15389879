import { capitalize, humanize } from './status'

/** Returns the label of a field: `auth.client_id` becomes “Client ID”. */
export function labelOf(path: string): string {
  return capitalize(
    humanize(path.slice(path.lastIndexOf('.') + 1))
      .replace(abbreviations, word => word.toUpperCase())
      .replace(/\bids\b/, 'IDs')
      .replace(/ (ms|bytes|percent)$/, ' ($1)')
      .replace('sha256', 'SHA-256')
      .replace(/\bauth\b/, 'authentication')
      .replace(/\bcert\b/, 'certificate')
      .replace('timezone', 'time zone')
      .replace('nameservers', 'name servers')
      .replace(/\bdont\b/, 'don’t')
      .replace(/\bmax\b/, 'maximum')
      .replace(/\bmin\b/, 'minimum'),
  )
}

/** Lowercases the first word, unless it is an abbreviation: “API token”. */
export const lowerFirst = (label: string): string =>
  /^\p{Lu}\p{Ll}/u.test(label) ? label.slice(0, 1).toLowerCase() + label.slice(1) : label

// Abbreviations to write in capitals.
const abbreviations =
  /\b(?:api|ca|cname|cpu|dns|dnssec|http|https|icmp|id|ip|json|mx|ns|smtp|soa|ssh|starttls|tcp|tls|tsig|ttl|udp|url|utc|xml)\b/g
