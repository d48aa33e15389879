import { domainToUnicode } from 'node:url'
import { DnsFormatError } from '../../core/dns/format-error'
import { isWithin, labelsOf, lowerName, nameOf, parseName, relativeName, sameName } from '../../core/dns/name'

// Zones are named without the dot at the end, records below their zone: `@` is the apex. Both in lower case and in A-labels.

/**
 * The name of a zone as people write it, with or without the dot at the end, in Unicode or in A-labels.
 * @throws DnsFormatError
 */
export function zoneNameOf(text: string): string {
  const name = lowerName(parseName(text, '.'))
  if (name === '.') throw new DnsFormatError('must not be the root', null, 'RFC 1035 2.3.1')
  for (const label of labelsOf(name)) {
    // A slash is in the zones of RFC 2317, which divide a network.
    if (!/^[a-z0-9_](?:[a-z0-9_/-]*[a-z0-9_])?$/.test(label))
      throw new DnsFormatError(
        'must be of letters, digits, hyphens, underscores and slashes, with no hyphen at the ends of a label',
        null,
        'RFC 1035 2.3.1',
      )
  }
  // `in-addr.arpa` and `ip6.arpa`, where labels are numbers, do not end in one.
  if (/^\d+$/.test(labelsOf(name).at(-1)!))
    throw new DnsFormatError('must not end in a label of digits alone: that is an address', null, 'RFC 3696 2')
  return name.slice(0, -1)
}

/** Absolute, as names are in rdata. */
export const originOf = (zoneName: string): string => `${zoneName}.`

/** Labels in Unicode where they are A-labels that stand for something. */
export const unicodeOf = (name: string): string =>
  name
    .split('.')
    .map(label => (label.startsWith('xn--') && domainToUnicode(label)) || label)
    .join('.')

/**
 * The name of a record within its zone. `@`, nothing and the zone's own name are the apex; a name with a dot at the end is absolute.
 * @throws DnsFormatError
 */
export function recordNameOf(text: string, zoneName: string): string {
  const origin = originOf(zoneName)
  if (text === '' || text === '@' || lowerName(text) === zoneName) return '@'
  const fqdn = lowerName(parseName(text, origin))
  if (!isWithin(fqdn, origin))
    throw new DnsFormatError(
      `must be within the zone ${zoneName}; a name with a dot at its end is absolute`,
      null,
      'RFC 1034 4.2',
    )
  if (sameName(fqdn, origin)) return '@'
  const name = relativeName(fqdn, origin)
  if (name === zoneName || name.endsWith(`.${zoneName}`)) {
    if (!text.endsWith('.'))
      throw new DnsFormatError(
        `must not repeat the zone: it would be ${name}.${zoneName}. Leave ".${zoneName}" away, or end the name in a dot`,
        null,
        'RFC 1034 3.1',
      )
  }
  if (labelsOf(fqdn).some((label, place) => label.includes('*') && (label !== '*' || place > 0)))
    throw new DnsFormatError('must have "*" only as the whole of its first label', null, 'RFC 4592 2.1.1')
  return name
}

/** Absolute, with the dot, as names are in rdata. */
export const absoluteOf = (name: string, zoneName: string): string => (name === '@' ? `${zoneName}.` : `${name}.${zoneName}.`)

/** Absolute, without the dot, as people read it. */
export const fqdnOf = (name: string, zoneName: string): string => (name === '@' ? zoneName : `${name}.${zoneName}`)

/** A name within the zone as records have it; null for one that is outside. @param absolute in lower case */
export function withinZone(absolute: string, zoneName: string): string | null {
  const origin = originOf(zoneName)
  return isWithin(absolute, origin) ? relativeName(absolute, origin) : null
}

/** The labels from the right, so that names below a name begin alike. */
export function reversedName(name: string): string {
  if (name === '@') return name
  if (!name.includes('\\')) return name.split('.').toReversed().join('.')
  return labelsOf(`${name}.`)
    .toReversed()
    .map(label => nameOf([label]).slice(0, -1))
    .join('.')
}

/** The names above a name and below the apex, nearest first. */
export function namesAbove(name: string): string[] {
  if (name === '@') return []
  const labels = labelsOf(`${name}.`)
  return labels.slice(1).map((_, place) => nameOf(labels.slice(place + 1)).slice(0, -1))
}
