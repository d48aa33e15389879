import { nameserversOf, registrarName, unknown, type Reading } from './reading'
import { registryDate } from './registry-date'
import { rdapStatuses } from './statuses'
import type { WhoisForm } from './whois-forms'

/** Maximum size of a response in bytes. */
export const maxWhoisBytes = 65_536

const maxLineLength = 1000
const usualNames = ['domain', 'domain name', 'domainname']
const labels = {
  status: ['status', 'domain status', 'state'],
  registered: [
    'creation date',
    'created',
    'created on',
    'registered',
    'registered on',
    'registered date',
    'registration time',
    'registration',
    'domain create date',
    'domain name commencement date',
  ],
  changed: ['updated date', 'last update', 'changed', 'modified', 'last-update', 'last updated on', 'domain last updated date'],
  registrar: ['registrar', 'sponsoring registrar', 'registrar name', 'registrar-name'],
  nameserver: ['nserver', 'name server', 'nameserver', 'hostname'],
}
const refusals =
  /limit exceeded|exceeded .{0,40}(?:limit|quota|queries)|\bquota\b|too many (?:requests|queries|connections)|access denied|blacklisted|please try (?:again )?later/i

/** The text of a response: UTF-8, or Latin-1 if it isn’t. */
export function whoisText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}

/**
 * Reads a response to a query for a name. WHOIS has no format (RFC 3912): what doesn’t have the form of its registry is `unknown`.
 * @param name A-labels
 */
export function readWhois(bytes: Uint8Array, form: Omit<WhoisForm, 'host'>, name: string): Reading {
  const lines = whoisText(bytes)
    .split(/\r\n|\n|\r/)
    .map(line => line.slice(0, maxLineLength).trim().replace(/\s+/g, ' '))
    .filter(line => line !== '')
  if (lines.length === 0) return unknown('The response is empty.')
  const values = valuesOf(lines)
  const all = (of: readonly string[]) => of.flatMap(label => values.get(label) ?? [])
  // Contacts have names too, after the one of the domain.
  const named = all(form.names ?? usualNames).find(one => one !== '')
  const frees = new Set(form.free.map(one => one.replace('{name}', name).toLowerCase()))
  const free = lines.find(line => frees.has(line.toLowerCase()))
  const isNamed = named !== undefined
  if (isNamed && named.toLowerCase().replace(/\.$/, '') !== name) return unknown('The response is about another name.')
  if (free !== undefined) {
    // A status is one of the fields of a name. All other words come without any.
    const statuses = all(labels.status)
    const isField = /^status:/i.test(free)
    if (isField ? isNamed && statuses.length === 1 : !isNamed)
      return { state: 'absent', detail: `The server returned “${free}”.` }
    return unknown('The response says both that the name is registered and that it isn’t.')
  }
  if (!isNamed) {
    const refusal = lines.find(line => refusals.test(line))
    if (refusal !== undefined) return unknown('The server refuses queries for now: its limit is exceeded.', { isThrottled: true })
    return unknown('The response doesn’t have the expected form.')
  }
  const date = (of: readonly string[]) => {
    const dates = all(of).map(text => registryDate(/^[a-z ]+\((.*)\)$/i.exec(text)?.[1] ?? text, form.offsetMinutes))
    const found = new Set(dates.filter(at => at !== null))
    return found.size === 1 ? [...found][0]! : null
  }
  const registrar = all(labels.registrar).find(one => one !== '') ?? null
  const id = all(['registrar iana id', 'sponsoring registrar iana id']).find(one => /^\d{1,9}$/.test(one))
  return {
    state: 'found',
    related: null,
    facts: {
      statuses: rdapStatuses(all(labels.status)),
      registered_at: date(labels.registered),
      expires_at: date(form.ends),
      registrar_expires_at: null,
      changed_at: date(labels.changed),
      registrar: registrar === null ? null : { name: registrarName(registrar), iana_id: id === undefined ? null : Number(id) },
      // Addresses can follow the name: `ns1.example.com. 192.0.2.1`.
      nameservers: nameserversOf(all(labels.nameserver).map(text => text.split(' ', 1)[0]!)),
    },
  }
}

/** The values of all lines such as `Label: value`, `[Label] value`, and `Label....: value`, by label in lowercase. */
function valuesOf(lines: readonly string[]): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const line of lines) {
    const match = /^(?:\*+ )?(?:[a-z]\. )?(?:\[([^\]]{1,60})\]|([^%#[:][^:]{0,79}?)[ .]*:)(?: (.*)|(?<=:)(.*)|)$/.exec(line)
    if (!match) continue
    const label = (match[1] ?? match[2]!).toLowerCase()
    const value = (match[3] ?? match[4] ?? '').trim()
    const known = values.get(label)
    if (known) known.push(value)
    else values.set(label, [value])
  }
  return values
}
