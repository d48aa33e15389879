import type { Facts } from '../check'
import type { Operand } from './operand'
import { readable } from './numbers'
import { Several } from './several'

/** What an operand stands for: undefined where the check has not seen it, or `Several`. */
export type Value = unknown

/** Facts of one run, as conditions see them. */
export interface Look {
  valueOf(operand: Operand): Value
  /** Blots secrets out of what is shown. */
  hide(text: string): string
}

/** @param now ms UTC */
export function lookAt(facts: Facts, now: number, hide: Look['hide'] = text => text): Look {
  let json: { value: unknown } | null = null
  const body = () => (json ??= { value: parsed(facts.body) }).value
  return {
    hide,
    valueOf: operand => (operand.kind === 'source' ? applied(operand, sourceOf(operand, facts, now, body), body) : undefined),
  }
}

function sourceOf(operand: Operand & { kind: 'source' }, facts: Facts, now: number, body: () => unknown): Value {
  const value = seen(operand, facts, now, body)
  if (operand.apply !== 'age') return value
  const at = timeOf(value)
  return at === null ? undefined : now - at
}

function seen(operand: Operand & { kind: 'source' }, facts: Facts, now: number, body: () => unknown): Value {
  switch (operand.source) {
    case 'CONNECTED':
      return facts.connected
    case 'STATUS':
      return facts.status ?? undefined
    case 'RESPONSE_TIME':
      return facts.phases.total ?? undefined
    case 'TTFB':
      return facts.phases.first_byte ?? undefined
    case 'IP':
      return facts.address ?? undefined
    case 'BODY':
      return operand.path ? whereItLeads(operand.path, body) : facts.body?.trim()
    case 'HEADER': {
      const name = operand.header!
      return facts.headers && Object.hasOwn(facts.headers, name) ? facts.headers[name] : undefined
    }
    case 'CERTIFICATE_EXPIRATION':
      return facts.tls?.certificate ? facts.tls.certificate.not_after - now : undefined
    case 'TLS_VERSION':
      return facts.tls?.version
    case 'DNS_RCODE':
      return facts.dns?.rcode
    case 'DNS_ANSWER':
      return facts.dns ? new Several(facts.dns.answers) : undefined
    // No type of check tells it: it is a matter of registries, not of the server.
    case 'DOMAIN_EXPIRATION':
      return undefined
  }
}

function whereItLeads(path: (value: unknown) => unknown, body: () => unknown): Value {
  try {
    return path(body())
  } catch {
    // Nested deeper than a comparison of its parts can follow.
    return undefined
  }
}

function applied(operand: Operand & { kind: 'source' }, value: Value, body: () => unknown): Value {
  if (operand.apply === 'has')
    return value instanceof Several ? value.values.length > 0 : value !== undefined && value !== null && value !== ''
  if (operand.apply !== 'len' || value === undefined) return value
  // Of a body that is a JSON array or object, its members.
  const whole = operand.source === 'BODY' && !operand.path ? body() : value
  const counted = typeof whole === 'object' && whole !== null ? whole : value
  if (counted instanceof Several) return counted.values.length
  if (Array.isArray(counted)) return counted.length
  if (typeof counted === 'object' && counted !== null) return Object.keys(counted).length
  return [...textOf(counted)].length
}

function parsed(body: string | null): unknown {
  if (body === null) return undefined
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** A time in RFC 3339, as HTTP writes dates (RFC 9110 section 5.6.7), or in seconds or milliseconds since 1970; null for anything else. */
function timeOf(value: Value): number | null {
  const text = textOf(value).trim()
  if (/^\d{1,12}(?:\.\d+)?$/.test(text) && Number(text) < 1e12) return Number(text) * 1000
  if (/^\d{13,15}(?:\.\d+)?$/.test(text)) return Number(text)
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^[A-Z][a-z]{2,8},? /.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

/** A value as text: strings as they are, the rest as JSON. */
export const textOf = (value: Value): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const longestShown = 80
const longestOperand = 150

/** An operand with its value behind it, in one line. */
export function shown(operand: Operand, value: Value, hide: Look['hide']): string {
  const text = cut(operand.text, longestOperand)
  if (operand.kind !== 'source') return text
  return `${text} (${value === undefined ? 'INVALID' : cut(hide(isSpan(operand, value) ? readable(value) : textOf(roundedMs(value))), longestShown)})`
}

/** Where nobody reads milliseconds: days until something ends, or since something was. */
const isSpan = ({ source, apply }: Operand & { kind: 'source' }, value: Value): value is number =>
  typeof value === 'number' && (apply === 'age' || (apply === null && source.endsWith('_EXPIRATION')))

const roundedMs = (value: Value): Value =>
  typeof value === 'number' && !Number.isInteger(value) ? Math.round(value * 1000) / 1000 : value

function cut(text: string, most: number): string {
  const start = [...text.slice(0, 2 * most)]
  const isLong = start.length > most || text.length > 2 * most
  return (isLong ? `${start.slice(0, most).join('')}…` : text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}
