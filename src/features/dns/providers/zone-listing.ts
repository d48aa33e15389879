import { catchFormatError } from '../../../dns/format-error'
import { lowerName, parseName } from '../../../dns/name'
import { isObject } from '../../../dns/octets'
import { ProviderError, type ProviderZone } from './provider'

/**
 * Parses a list of zones with `id` and `name`. Skips entries whose name is not a DNS name, such as PowerDNS zone variants.
 * @throws ProviderError `invalid_response`
 */
export const parseZones = (listed: readonly unknown[]): ProviderZone[] => listed.flatMap(one => parseZone(one) ?? [])

/** Parses a zone that was just created. @throws ProviderError `invalid_response` */
export function parseCreatedZone(listed: unknown): ProviderZone {
  const zone = parseZone(listed)
  if (!zone) throw new ProviderError('invalid_response', 'The created zone has no valid name.')
  return zone
}

function parseZone(listed: unknown): ProviderZone | null {
  const { id, name } = isObject(listed) ? listed : {}
  if (typeof name !== 'string' || typeof id !== 'string' || !/^[\x21-\x7e]{1,1024}$/.test(id))
    throw new ProviderError('invalid_response', 'A zone in the response has no ID or name.')
  return catchFormatError(
    () => ({ name: lowerName(parseName(name, '.')).slice(0, -1), ref: id }),
    () => null,
  )
}
