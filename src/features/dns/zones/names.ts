import { domainToUnicode } from 'node:url'
import { DnsFormatError } from '../../../dns/format-error'
import { isWithin, labelsOf, lowerName, nameOf, parseName, relativeName, sameName } from '../../../dns/name'

// Zone names have no trailing dot. Record names are relative to the zone; `@` is the apex. Both are lowercase A-labels.

/**
 * Parses a zone name, with or without a trailing dot, in Unicode or A-labels.
 * @throws DnsFormatError
 */
export function zoneNameOf(text: string): string {
  const name = lowerName(parseName(text, '.'))
  if (name === '.') throw new DnsFormatError('must not be the root', null, 'RFC 1035 2.3.1')
  for (const label of labelsOf(name)) {
    // Reverse zones of RFC 2317 contain slashes.
    if (!/^[a-z0-9_](?:[a-z0-9_/-]*[a-z0-9_])?$/.test(label))
      throw new DnsFormatError(
        'must consist of letters, digits, hyphens, underscores, and slashes; labels must not start or end with a hyphen',
        null,
        'RFC 1035 2.3.1',
      )
  }
  // Reverse zones have numeric labels, but end in `in-addr.arpa` or `ip6.arpa`.
  if (/^\d+$/.test(labelsOf(name).at(-1)!))
    throw new DnsFormatError('must not end in a numeric label, which would be an IP address', null, 'RFC 3696 2')
  return name.slice(0, -1)
}

/** Absolute name of a zone, with a trailing dot, as in rdata. */
export const originOf = (zoneName: string): string => `${zoneName}.`

/** Converts A-labels to Unicode. Invalid A-labels stay unchanged. */
export const unicodeOf = (name: string): string =>
  name
    .split('.')
    .map(label => (label.startsWith('xn--') && domainToUnicode(label)) || label)
    .join('.')

/**
 * Parses a record name. `@`, an empty name and the name of the zone are the apex. A name with a trailing dot is absolute.
 * @throws DnsFormatError
 */
export function recordNameOf(text: string, zoneName: string): string {
  const origin = originOf(zoneName)
  if (text === '' || text === '@' || lowerName(text) === zoneName) return '@'
  const fqdn = lowerName(parseName(text, origin))
  if (!isWithin(fqdn, origin))
    throw new DnsFormatError(`must be inside the zone ${zoneName}; names with a trailing dot are absolute`, null, 'RFC 1034 4.2')
  if (sameName(fqdn, origin)) return '@'
  const name = relativeName(fqdn, origin)
  if (name === zoneName || name.endsWith(`.${zoneName}`)) {
    if (!text.endsWith('.'))
      throw new DnsFormatError(
        `must not include the zone name: it would become ${name}.${zoneName}. Remove ".${zoneName}" or add a trailing dot`,
        null,
        'RFC 1034 3.1',
      )
  }
  if (labelsOf(fqdn).some((label, place) => label.includes('*') && (label !== '*' || place > 0)))
    throw new DnsFormatError('may have "*" only as its entire first label', null, 'RFC 4592 2.1.1')
  return name
}

/** Absolute name of a record, with a trailing dot, as in rdata. */
export const absoluteOf = (name: string, zoneName: string): string => (name === '@' ? `${zoneName}.` : `${name}.${zoneName}.`)

/** Fully qualified name of a record, without a trailing dot. */
export const fqdnOf = (name: string, zoneName: string): string => (name === '@' ? zoneName : `${name}.${zoneName}`)

/** Converts an absolute name to a record name; null if it is outside the zone. @param absolute in lower case */
export function withinZone(absolute: string, zoneName: string): string | null {
  const origin = originOf(zoneName)
  return isWithin(absolute, origin) ? relativeName(absolute, origin) : null
}

/** Reverses the labels, so that names below a name share its prefix. */
export function reversedName(name: string): string {
  if (name === '@') return name
  if (!name.includes('\\')) return name.split('.').toReversed().join('.')
  return labelsOf(`${name}.`)
    .toReversed()
    .map(label => nameOf([label]).slice(0, -1))
    .join('.')
}

/** Parent names below the apex, nearest first. */
export function namesAbove(name: string): string[] {
  if (name === '@') return []
  const labels = labelsOf(`${name}.`)
  return labels.slice(1).map((_, place) => nameOf(labels.slice(place + 1)).slice(0, -1))
}

export const rrsetKey = (of: { name: string; type: string }): string => `${of.name} ${of.type}`
