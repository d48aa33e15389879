import { DnsFormatError } from '../../../core/dns/format-error'
import { lowerName, parseName } from '../../../core/dns/name'
import { isObject } from '../../../core/dns/octets'
import { ProviderError, type ProviderZone } from './provider'

/**
 * Zones as an HTTP API lists them, with the members `id` and `name`; without those that have no name of DNS, such as variants of a zone.
 * @throws ProviderError `invalid_answer`
 */
export const zonesTold = (listed: readonly unknown[]): ProviderZone[] => listed.flatMap(one => zoneTold(one) ?? [])

/** The zone that was just made. @throws ProviderError `invalid_answer` */
export function zoneMade(told: unknown): ProviderZone {
  const zone = zoneTold(told)
  if (!zone) throw new ProviderError('invalid_answer', 'The zone that the server made has no name.')
  return zone
}

function zoneTold(told: unknown): ProviderZone | null {
  const { id, name } = isObject(told) ? told : {}
  if (typeof name !== 'string' || typeof id !== 'string' || !/^[\x21-\x7e]{1,1024}$/.test(id))
    throw new ProviderError('invalid_answer', 'A zone at the server has no id or no name.')
  try {
    return { name: lowerName(parseName(name, '.')).slice(0, -1), ref: id }
  } catch (error) {
    if (error instanceof DnsFormatError) return null
    throw error
  }
}
