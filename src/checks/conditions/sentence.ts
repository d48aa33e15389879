import { truths } from '../check'
import type { Redact } from '../redaction'
import type { Operator } from './compare'
import { formatDuration } from './numbers'
import { keywordOfGlob } from './keyword'
import type { Operand } from './operand'
import { shownOperand, shownValue, type Value } from './values'

/** A comparison that holds, and its observed values. */
interface Comparison {
  left: Operand
  leftValue: Value
  operator: Operator
  negated: boolean
  right: Operand
  rightValue: Value
}

type Source = Operand & { kind: 'source' }

/**
 * A comparison that holds as a sentence without a full stop: `[CERTIFICATE_EXPIRATION] < 14d` is `Certificate expires in 13d 23h, less than
 * 14d`, `[STATUS] == 503` is `Status code is 503`.
 */
export function sentenceOf({ negated, ...comparison }: Comparison, redact: Redact): string {
  const operator = negated ? opposites[comparison.operator] : comparison.operator
  const { left, leftValue, right, rightValue } = comparison
  if (left.kind === 'source')
    return sentence(left, leftValue, operator, otherSide(left, leftValue, right, rightValue, redact), redact)
  return sentence(
    right as Source,
    rightValue,
    mirrored[operator] ?? operator,
    otherSide(right as Source, rightValue, left, leftValue, redact),
    redact,
  )
}

const opposites: Record<Operator, Operator> = { '==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>' }
const mirrored: Partial<Record<Operator, Operator>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' }

interface OtherSide {
  kind: Operand['kind']
  text: string
  /** The text that the value must contain, if the other side is a pattern that says only this. */
  keyword?: string | null
}

function sentence(subject: Source, value: Value, operator: Operator, other: OtherSide, redact: Redact): string {
  const isBody = subject.source === 'BODY' && subject.apply === null && !subject.path
  if (isBody && value !== undefined && typeof other.keyword === 'string')
    return `Keyword “${other.keyword}” ${operator === '==' ? 'found' : 'not found'}`
  const found = observation(subject, value, redact)
  const isObvious = operator === '==' && other.kind === 'literal' && found.endsWith(` ${other.text}`)
  const isTruth = subject.apply === 'has' || truths.some(source => source === subject.source)
  // A missing value is neither less nor more than another.
  const isIncomparable = value === undefined && operator !== '!='
  const isExpired = isExpiry(subject) && typeof value === 'number' && value < 0
  return isObvious || isTruth || isIncomparable || isExpired ? found : `${found}, ${relation(operator, other)}`
}

function observation(subject: Source, value: Value, redact: Redact): string {
  const name = capitalized(nounOf(subject))
  if (value === undefined) return subject.source === 'DOMAIN_EXPIRATION' ? `${name} is not known` : `${name} is missing`
  if (subject.apply === 'has') return `${name} is ${value === true ? 'present' : 'missing'}`
  if (subject.source === 'CONNECTED') return value === true ? 'Connection succeeded' : 'Connection failed'
  if (subject.source === 'REBOOT_REQUIRED') return value === true ? 'A restart is required' : 'No restart is required'
  if (subject.source === 'SMART_FAILING' && subject.device === null)
    return value === true ? 'A disk is failing' : 'No disk is failing'
  if (subject.source === 'SMART_FAILING') return `The disk ${subject.device} is ${value === true ? 'failing' : 'not failing'}`
  const shown = shownValue(subject, value, redact)
  if (isExpiry(subject) && typeof value === 'number') {
    const what = subject.source === 'DOMAIN_EXPIRATION' ? 'Domain' : 'Certificate'
    return value < 0 ? `${what} expired ${formatDuration(-value)} ago` : `${what} expires in ${shown}`
  }
  return `${name} is ${isQuoted(subject, value) ? `“${shown}”` : withUnit(subject, shown)}`
}

function relation(operator: Operator, { kind, text, keyword }: OtherSide): string {
  if (kind === 'any') return `${operator === '==' ? 'one' : 'none'} of ${text}`
  if (typeof keyword === 'string') return `${operator === '==' ? 'containing' : 'not containing'} “${keyword}”`
  if (kind === 'pattern') return `${operator === '==' ? 'matching' : 'not matching'} ${text}`
  return `${relations[operator]} ${text}`
}

const relations: Record<Operator, string> = {
  '==': 'equal to',
  '!=': 'not',
  '<': 'less than',
  '<=': 'at most',
  '>': 'more than',
  '>=': 'at least',
}

function otherSide(subject: Source, found: Value, other: Operand, value: Value, redact: Redact): OtherSide {
  const { kind } = other
  switch (kind) {
    case 'source':
      return {
        kind,
        text: `${nounOf(other)} (${value === undefined ? 'missing' : withUnit(other, shownValue(other, value, redact))})`,
      }
    case 'any':
      return { kind, text: shownOperand(other.values.join(', ')) }
    case 'literal': {
      const text = shownOperand(other.value)
      return { kind, text: isQuoted(subject, found) ? `“${text}”` : withUnit(subject, text) }
    }
    case 'pattern': {
      const keyword = keywordOfGlob(/^pat\((.*)\)$/s.exec(other.text)?.[1] ?? '')
      return { kind, text: shownOperand(other.text), keyword: keyword && shownOperand(keyword) }
    }
  }
}

const isExpiry = ({ source, apply }: Source): boolean => apply === null && source.endsWith('_EXPIRATION')
const isClockOffset = ({ source, apply }: Source): boolean => apply === null && source === 'CLOCK_OFFSET'
const isQuoted = ({ source, apply }: Source, value: Value): boolean =>
  typeof value === 'string' && apply === null && (source === 'BODY' || source === 'HEADER')
/** Times and durations are in milliseconds unless they have a unit. */
function withUnit(subject: Source, text: string): string {
  if (!/^-?[\d.]+$/.test(text)) return text
  if (isExpiry(subject) || subject.apply === 'age' || isClockOffset(subject)) return formatDuration(Number(text))
  if (subject.apply === null && subject.source.endsWith('_PERCENT')) return `${text}%`
  if (subject.apply === null && subject.source === 'TEMPERATURE') return `${text} °C`
  if (subject.apply === null && subject.source === 'DISK_HOURS_LEFT') return `${text} h`
  return subject.apply === null && (subject.source === 'RESPONSE_TIME' || subject.source === 'TTFB') ? `${text} ms` : text
}

const nouns: Record<Source['source'], string> = {
  CONNECTED: 'connection',
  STATUS: 'status code',
  RESPONSE_TIME: 'response time',
  TTFB: 'time to first byte',
  IP: 'IP address',
  BODY: 'response body',
  HEADER: 'header',
  CERTIFICATE_EXPIRATION: 'certificate expiry',
  TLS_VERSION: 'TLS version',
  DNS_RCODE: 'DNS response code',
  DNS_ANSWER: 'DNS answer',
  DOMAIN_EXPIRATION: 'domain expiry',
  CPU_PERCENT: 'CPU use',
  MEMORY_PERCENT: 'memory use',
  SWAP_PERCENT: 'swap use',
  LOAD_PER_CORE: 'load per core',
  DISK_PERCENT: 'disk use',
  DISK_HOURS_LEFT: 'time until a disk is full',
  INODES_PERCENT: 'inode use',
  IO_FULL_PERCENT: 'I/O pressure',
  TEMPERATURE: 'temperature',
  FAILED_UNITS: 'number of failed units',
  UNHEALTHY_CONTAINERS: 'number of unhealthy containers',
  ARRAYS_DEGRADED: 'number of degraded arrays',
  CERTIFICATES_NOT_SERVED: 'number of renewed certificates that are not served',
  SECURITY_UPDATES: 'number of security updates',
  CLOCK_OFFSET: 'clock offset',
  SMART_FAILING: 'failing disk',
  REBOOT_REQUIRED: 'required restart',
  UNIT: 'unit',
  CONTAINER: 'container',
  PROCESS: 'number of processes',
}

/** Nouns of sources with a device that differ from “disk use of /data”. */
const deviceNouns: Partial<Record<Source['source'], (device: string) => string>> = {
  UNIT: device => `unit ${device}`,
  CONTAINER: device => `container ${device}`,
  PROCESS: device => `number of ${device} processes`,
  DISK_HOURS_LEFT: device => `time until ${device} is full`,
}

function nounOf({ source, apply, path, header, device, text }: Source): string {
  const noun =
    source === 'HEADER'
      ? `header ${header}`
      : source === 'BODY' && path
        ? `response field ${/\[BODY\]\.?(.*?)\s*\)?$/i.exec(text)![1]}`
        : device === null
          ? nouns[source]
          : (deviceNouns[source]?.(device) ?? `${nouns[source]} of ${device}`)
  return apply === 'len' ? `length of the ${noun}` : apply === 'age' ? `age of the ${noun}` : noun
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
