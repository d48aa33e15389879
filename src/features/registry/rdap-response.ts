import { retryAfterMs } from '../../core/net/retry-after'
import { nameserversOf, registrarName, unknown, type Reading, type RegistryFacts } from './reading'
import { registryDate } from './registry-date'
import { rdapStatuses } from './statuses'

/** Maximum size of a response in bytes. */
export const maxRdapBytes = 1024 * 1024

interface RdapResponse {
  status: number
  headers: Headers
  body: Uint8Array
  /** The body is longer than {@link maxRdapBytes}. */
  isTooLong: boolean
}

/** Statuses that some registries use for names that are not registered. */
const freeStatuses = /^(?:free|available|release process\b.*)$/i
/** How much of a status is quoted. */
const maxStatusLength = 200

const throttling: readonly number[] = [403, 429, 503]

/**
 * Reads a response to a query for a domain (RFC 9083 section 5.3). Everything that is not clearly about the domain is `unknown`.
 * @param name A-labels
 * @param now ms UTC
 */
export function readRdap(response: RdapResponse, name: string, now: number): Reading {
  const { status, headers } = response
  const type = headers.get('content-type') ?? ''
  if (status === 404) {
    // A web server without RDAP answers 404, too.
    if (/html/i.test(type)) return unknown('The server returned a web page with the status code 404.')
    return { state: 'absent', detail: 'The server returned the status code 404.' }
  }
  if (status !== 200) {
    const retryAfter = headers.get('retry-after')
    return unknown(`The server returned the status code ${status}.`, {
      isThrottled: throttling.includes(status),
      retryAfterMs: retryAfter === null ? null : retryAfterMs(retryAfter, now),
      isAboutName: status === 400,
    })
  }
  if (response.isTooLong) return unknown(`The response is larger than ${maxRdapBytes / 1024 / 1024} MiB.`)
  const domain = recordOf(parsed(response.body))
  if (domain?.objectClassName !== 'domain') return unknown('The response is not an RDAP domain object.')
  if (plainName(domain.ldhName) !== name) return unknown('The response is about another name.')
  const statuses = listOf(domain.status).flatMap(one => (typeof one === 'string' ? [one] : []))
  const free = statuses.find(one => freeStatuses.test(one))
  if (free !== undefined) return { state: 'absent', detail: `The status of the domain is “${free.slice(0, maxStatusLength)}”.` }
  return { state: 'found', facts: factsOf(domain, statuses), related: relatedOf(domain) }
}

type Members = Record<string, unknown>

function factsOf(domain: Members, statuses: string[]): RegistryFacts {
  const dates = datesOf(domain.events)
  const named = listOf(domain.nameservers).flatMap(one => plainName(recordOf(one)?.ldhName) ?? [])
  return {
    statuses: rdapStatuses(statuses),
    registered_at: dates.get('registration') ?? null,
    expires_at: dates.get('expiration') ?? null,
    registrar_expires_at: dates.get('registrar expiration') ?? null,
    changed_at: dates.get('last changed') ?? null,
    registrar: registrarOf(domain.entities),
    nameservers: nameserversOf(named),
  }
}

/** Dates by action (RFC 9083 section 4.5). An action with several dates has none, because it is unclear which one is right. */
function datesOf(events: unknown): Map<string, number | null> {
  const dates = new Map<string, number | null>()
  for (const one of listOf(events)) {
    const event = recordOf(one)
    const { eventAction: action, eventDate: date } = event ?? {}
    if (typeof action !== 'string' || typeof date !== 'string') continue
    const key = action.toLowerCase()
    const at = registryDate(date)
    dates.set(key, dates.has(key) && dates.get(key) !== at ? null : at)
  }
  return dates
}

function registrarOf(entities: unknown): RegistryFacts['registrar'] {
  const registrar = listOf(entities)
    .map(recordOf)
    .find(one => listOf(one?.roles).includes('registrar'))
  if (!registrar) return null
  const properties = listOf(listOf(registrar.vcardArray)[1])
  const fullName = properties.map(listOf).find(one => one[0] === 'fn')?.[3]
  const id = listOf(registrar.publicIds)
    .map(recordOf)
    .find(one => one?.type === 'IANA Registrar ID')?.identifier
  const number = /^\d{1,9}$/.test(String(id)) ? Number(id) : null
  return { name: registrarName(fullName), iana_id: number }
}

/** The RDAP server of the registrar (RFC 9083 section 4.2). */
function relatedOf(domain: Members): string | null {
  const link = listOf(domain.links)
    .map(recordOf)
    .find(one => one?.rel === 'related' && one.type === 'application/rdap+json' && typeof one.href === 'string')
  const url = link ? URL.parse(link.href as string) : null
  return url && /^https?:$/.test(url.protocol) && url.href.length <= 2000 ? url.href : null
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

const recordOf = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined
// Entries of a list that are read.
const maxEntries = 200
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, maxEntries) : [])
const plainName = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= 254 ? value.toLowerCase().replace(/\.$/, '') : undefined
