import { catchFormatError } from '../../../dns/format-error'
import { lowerName, parseName } from '../../../dns/name'
import { isObject } from '../../../dns/octets'
import { TTL_MAX } from '../../../dns/ttl'
import { ProviderError } from './provider'

/** A zone at deSEC. */
export interface DesecDomain {
  /** In lower case A-labels, without the trailing dot. */
  name: string
  minimumTtl: number
  /** Time of the last write, in milliseconds UTC; 0 if there was none. Unchanged means that the zone is unchanged. */
  touchedAt: number
}

/** @throws ProviderError `invalid_response` */
export function parseDomain(row: unknown): DesecDomain {
  const { name, minimum_ttl, touched } = isObject(row) ? row : {}
  const touchedAt = touched === null ? 0 : typeof touched === 'string' ? Date.parse(touched) : Number.NaN
  const isTtl = Number.isInteger(minimum_ttl) && (minimum_ttl as number) >= 0 && (minimum_ttl as number) <= TTL_MAX
  const parsed = typeof name === 'string' ? nameOf(name) : null
  if (parsed === null || !isTtl || !Number.isFinite(touchedAt))
    throw new ProviderError(
      'invalid_response',
      'A zone in the response of deSEC has no valid name, minimum TTL, or time of change.',
    )
  return { name: parsed, minimumTtl: minimum_ttl as number, touchedAt }
}

const nameOf = (text: string): string | null =>
  catchFormatError(
    () => lowerName(parseName(text, '.')).slice(0, -1),
    () => null,
  )

type Domains = ReadonlyMap<string, DesecDomain>

// All requests of an account count towards the same limit of 2,000 a day. So zones that are polled at about the same time share a list.
const sharedForMs = 5 * 60_000
const lists = new Map<string, { until: number; domains: Promise<Domains> }>()

/** Returns the zones of an account by name, as of a few minutes ago at most. @param list reads them */
export function domainsOfAccount(account: string, now: number, list: () => Promise<DesecDomain[]>): Promise<Domains> {
  for (const [key, { until }] of lists) if (until <= now || until > now + sharedForMs) lists.delete(key)
  const known = lists.get(account)
  if (known) return known.domains
  const domains = list().then(found => new Map(found.map(one => [one.name, one])))
  const entry = { until: now + sharedForMs, domains }
  lists.set(account, entry)
  domains.catch(() => {
    if (lists.get(account) === entry) lists.delete(account)
  })
  return domains
}

/** Reads the list again next time, because it is about to change. */
export const forgetDomains = (account: string): boolean => lists.delete(account)
