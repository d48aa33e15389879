import type { Facts } from '../check'
import type { Operand } from './operand'
import { formatDuration } from './numbers'
import { EvaluationBudget, TooExpensive } from './budget'
import { MultiValue } from './multi-value'
import type { Redact } from '../redaction'

/** The value of an operand: undefined if the check did not observe it, possibly a `MultiValue`. */
export type Value = unknown

/** The facts of one run, for conditions. */
export interface EvaluationContext {
  /** @throws TooExpensive */
  valueOf(operand: Operand): Value
  budget: EvaluationBudget
  /** Redacts secrets for display. */
  redact: Redact
}

/**
 * @param now ms UTC
 * @param domainExpiresAt when the registration of the target’s domain ends (ms UTC); null if it is not known
 */
export function evaluationContext(
  facts: Facts,
  now: number,
  redact: Redact = text => text,
  domainExpiresAt: number | null = null,
): EvaluationContext {
  let json: { value: unknown } | null = null
  const body = () => (json ??= { value: parseJson(facts.body) }).value
  const budget = new EvaluationBudget()
  const values = new Map<string, Value>()
  const observations = { facts, now, domainExpiresAt, body }
  return {
    redact,
    budget,
    valueOf(operand) {
      if (operand.kind !== 'source') return undefined
      budget.check()
      if (!values.has(operand.text)) values.set(operand.text, applyFunction(operand, sourceOf(operand, observations), body))
      return values.get(operand.text)
    },
  }
}

interface Observations {
  facts: Facts
  now: number
  domainExpiresAt: number | null
  body: () => unknown
}

function sourceOf(operand: Operand & { kind: 'source' }, observations: Observations): Value {
  const value = observed(operand, observations)
  if (operand.apply !== 'age') return value
  const at = timeOf(value)
  return at === null ? undefined : observations.now - at
}

function observed(operand: Operand & { kind: 'source' }, { facts, now, domainExpiresAt, body }: Observations): Value {
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
      return operand.path ? follow(operand.path, body) : facts.body?.trim()
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
      return facts.dns ? new MultiValue(facts.dns.answers) : undefined
    case 'DOMAIN_EXPIRATION':
      return domainExpiresAt === null ? undefined : domainExpiresAt - now
    default:
      return facts.usage?.[usageKey(operand.source, operand.device)]
  }
}

/** The name of a value in `usage`. */
export const usageKey = (source: string, device: string | null): string => (device === null ? source : `${source} ${device}`)

function follow(path: (value: unknown) => unknown, body: () => unknown): Value {
  try {
    return path(body())
  } catch (error) {
    if (error instanceof TooExpensive) throw error
    return undefined
  }
}

function applyFunction(operand: Operand & { kind: 'source' }, value: Value, body: () => unknown): Value {
  if (operand.apply === 'has')
    return value instanceof MultiValue ? value.values.length > 0 : value !== undefined && value !== null && value !== ''
  if (operand.apply !== 'len' || value === undefined) return value
  // For a body that is a JSON array or object, count its members.
  const container = operand.source === 'BODY' && !operand.path ? body() : value
  const countable = typeof container === 'object' && container !== null ? container : value
  if (countable instanceof MultiValue) return countable.values.length
  if (Array.isArray(countable)) return countable.length
  if (typeof countable === 'object' && countable !== null) return Object.keys(countable).length
  return [...textOf(countable)].length
}

// Far below the depth at which serializing a value fails, after half a second.
const maxDepth = 500

function parseJson(body: string | null): unknown {
  if (body === null) return undefined
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  if (isTooDeep(body)) throw new TooExpensive(`uses a body that is nested more than ${maxDepth} levels deep`)
  return value
}

/** Whether a JSON text is nested too deeply. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') isQuoted = !isQuoted
    else if (isQuoted) at += Number(char === '\\')
    else if (char === '[' || char === '{') {
      if (++depth > maxDepth) return true
    } else if (char === ']' || char === '}') depth--
  }
  return false
}

/** Parses a time: RFC 3339, an HTTP date (RFC 9110 section 5.6.7), or seconds or milliseconds since 1970; null for other text. */
function timeOf(value: Value): number | null {
  const text = textOf(value).trim()
  if (/^\d{1,12}(?:\.\d+)?$/.test(text) && Number(text) < 1e12) return Number(text) * 1000
  if (/^\d{13,15}(?:\.\d+)?$/.test(text)) return Number(text)
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^[A-Z][a-z]{2,8},? /.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}

/** A value as text: strings as they are, other values as JSON. */
export const textOf = (value: Value): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

const maxShownValue = 80
const maxShownOperand = 150
// More than is shown: redacted text is shorter.
const maxRedacted = 65_536

/** An operand of a condition in one line. */
export const shownOperand = (text: string): string => cut(text, maxShownOperand)

/** An operand followed by its value, in one line. */
export function describeOperand(operand: Operand, value: Value, redact: Redact): string {
  const text = shownOperand(operand.text)
  if (operand.kind !== 'source') return text
  return `${text} (${value === undefined ? 'INVALID' : shownValue(operand, value, redact)})`
}

/** An observed value in one line. */
export const shownValue = (operand: Operand & { kind: 'source' }, value: Value, redact: Redact): string =>
  cut(redact(isDuration(operand, value) ? formatDuration(value) : shownText(roundedMs(value)), maxRedacted), maxShownValue)

/** A value as text. Of many values, only the first are written: redacting and writing all of them could take seconds. */
function shownText(value: Value): string {
  if (!(value instanceof MultiValue)) return textOf(value)
  let text = ''
  for (const one of value.values) if (text.length < maxRedacted) text += `${text && ','}${JSON.stringify(one)}`
  return `[${text}]`
}

/** Values shown as durations: time until an expiry, ages, and clock offsets. */
const isDuration = ({ source, apply }: Operand & { kind: 'source' }, value: Value): value is number =>
  typeof value === 'number' &&
  (apply === 'age' || (apply === null && (source.endsWith('_EXPIRATION') || source === 'CLOCK_OFFSET')))

const roundedMs = (value: Value): Value =>
  typeof value === 'number' && !Number.isInteger(value) ? Math.round(value * 1000) / 1000 : value

function cut(text: string, max: number): string {
  const start = [...text.slice(0, 2 * max)]
  const isLong = start.length > max || text.length > 2 * max
  return (isLong ? `${start.slice(0, max).join('')}…` : text).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
}
