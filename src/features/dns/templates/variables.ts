import { DnsFormatError } from '../../../core/dns/format-error'
import { labelsOf, lowerName, parseName } from '../../../core/dns/name'
import { mergePatch } from '../../../core/merge-patch'
import { formatAddress, parseAddress } from '../../../core/net/address'
import { pointerPart } from '../../../core/pointer'
import type { FieldProblem } from '../../../core/problem'
import { longestValue, type TemplateVariable, type Values } from './content'
import { regexOf } from '../../../core/regex'

/** The values of all variables of a template: as given, else the defaults, else empty. */
export type Settled = Readonly<Record<string, string>>

/**
 * Holds given values to the variables of a template.
 * @param pointer where the values stand in the request
 */
export function settleValues(
  variables: readonly TemplateVariable[],
  given: Values,
  pointer = '#/variables',
): { values: Settled; problems: FieldProblem[] } {
  const problems: FieldProblem[] = []
  const known = new Map(variables.map(one => [one.name, one]))
  for (const name of Object.keys(given))
    if (!known.has(name))
      problems.push({
        pointer: `${pointer}/${pointerPart(name)}`,
        code: 'unknown',
        detail: `is no variable of the template, which has ${[...known.keys()].slice(0, 20).join(', ') || 'none'}.`,
      })
  const values: Record<string, string> = {}
  for (const variable of variables) {
    const own = Object.hasOwn(given, variable.name) ? given[variable.name] : undefined
    const value = own ?? (isRequired(variable) ? undefined : (variable.default ?? ''))
    const at = `${pointer}/${variable.name}`
    if (value === undefined) {
      problems.push({ pointer: at, code: 'required', detail: 'is required by the template.' })
      continue
    }
    const read = valueOfVariable(variable, value)
    if ('rule' in read) problems.push({ pointer: at, code: 'invalid_value', detail: `must ${read.rule}.` })
    else values[variable.name] = read.value
  }
  return { values, problems }
}

/**
 * The values of a binding with others merged into them (RFC 7396); null takes one back. Those that the template has no variable for any
 * more are left out, where they are not given.
 */
export function mergedValues(
  variables: readonly TemplateVariable[],
  kept: Values,
  given: Readonly<Record<string, string | number | null>> = {},
): Values {
  const known = Object.entries(kept).filter(([name]) => variables.some(one => one.name === name))
  return mergePatch(Object.fromEntries(known), given) as Values
}

const isRequired = (variable: TemplateVariable): boolean => variable.required ?? variable.default === undefined

/** A value in the one spelling in which records get it; empty only where it may be left out. Or the rule that it breaks. */
export function valueOfVariable(variable: TemplateVariable, value: string | number): { value: string } | { rule: string } {
  const text = String(value)
  if (text === '' && !isRequired(variable)) return { value: '' }
  if (text.length > longestValue) return { rule: `have at most ${longestValue} characters` }
  return readers[variable.type](text, variable)
}

type Read = { value: string } | { rule: string }

const readers: Record<TemplateVariable['type'], (text: string, variable: TemplateVariable) => Read> = {
  ip: text => addressOf(text, 'ipv4', 'be an IPv4 address, such as 192.0.2.10'),
  ipv6: text => addressOf(text, 'ipv6', 'be an IPv6 address, such as 2001:db8::10'),
  host: hostOf,
  string: (text, { pattern }) => {
    if (!/^[^\p{Cc}\u2028\u2029]*$/u.test(text)) return { rule: 'be one line without control characters' }
    if (text === '') return { rule: 'not be empty' }
    if (pattern !== undefined && !regexOf(pattern).fits(text)) return { rule: `look like ${pattern}` }
    return { value: text }
  },
  int: text => (/^(0|-?[1-9]\d{0,14})$/.test(text) ? { value: text } : { rule: 'be a whole number of at most 15 digits' }),
  enum: (text, { values = [] }) => (values.includes(text) ? { value: text } : { rule: `be one of ${values.join(', ')}` }),
}

function addressOf(text: string, kind: 'ipv4' | 'ipv6', rule: string): Read {
  const address = parseAddress(text)
  return address?.kind() === kind ? { value: formatAddress(address) } : { rule }
}

/** Letters, digits, hyphens and underscores, in A-labels; the dot at the end stays where it is. */
function hostOf(text: string): Read {
  const rule = 'be the name of a host, such as mail.example.net'
  try {
    const name = lowerName(parseName(text, '.'))
    const labels = labelsOf(name)
    if (labels.length === 0 || !labels.every(label => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label))) return { rule }
    return { value: text.endsWith('.') ? name : name.slice(0, -1) }
  } catch (error) {
    if (error instanceof DnsFormatError) return { rule }
    throw error
  }
}
