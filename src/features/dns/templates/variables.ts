import { catchFormatError } from '../../../dns/format-error'
import { labelsOf, lowerName, parseName } from '../../../dns/name'
import { mergePatch } from '../../../core/merge-patch'
import { formatAddress, parseAddress } from '../../../core/net/address'
import { pointerPart } from '../../../core/pointer'
import type { FieldProblem } from '../../../core/problem'
import { maxValueLength, type TemplateVariable, type Values } from './content'
import { compileRegex } from '../../../core/regex'

/** The values of all variables of a template: the given value, else the default, else empty. */
export type Settled = Readonly<Record<string, string>>

/** Validates the values in a request against the variables of a template, and applies defaults. */
export function settleValues(
  variables: readonly TemplateVariable[],
  input: Values,
): { values: Settled; problems: FieldProblem[] } {
  const problems: FieldProblem[] = []
  const known = new Map(variables.map(one => [one.name, one]))
  for (const name of Object.keys(input))
    if (!known.has(name))
      problems.push({
        pointer: `#/variables/${pointerPart(name)}`,
        code: 'unknown',
        detail: `is not a variable of the template. Variables: ${[...known.keys()].slice(0, 20).join(', ') || 'none'}.`,
      })
  const values: Record<string, string> = {}
  for (const variable of variables) {
    const own = Object.hasOwn(input, variable.name) ? input[variable.name] : undefined
    const value = own ?? (isRequired(variable) ? undefined : (variable.default ?? ''))
    const at = `#/variables/${variable.name}`
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
 * Merges a patch into the values of a binding (RFC 7396); null removes a value. Drops stored values of variables that the
 * template no longer has.
 */
export function mergedValues(
  variables: readonly TemplateVariable[],
  stored: Values,
  input: Readonly<Record<string, string | number | null>> = {},
): Values {
  const known = Object.entries(stored).filter(([name]) => variables.some(one => one.name === name))
  return mergePatch(Object.fromEntries(known), input) as Values
}

const isRequired = (variable: TemplateVariable): boolean => variable.required ?? variable.default === undefined

/** Returns the normalized value, or the rule it violates. Empty values are only allowed for optional variables. */
export function valueOfVariable(variable: TemplateVariable, value: string | number): { value: string } | { rule: string } {
  const text = String(value)
  if (text === '' && !isRequired(variable)) return { value: '' }
  if (text.length > maxValueLength) return { rule: `have at most ${maxValueLength} characters` }
  return readers[variable.type](text, variable)
}

type Read = { value: string } | { rule: string }

const readers: Record<TemplateVariable['type'], (text: string, variable: TemplateVariable) => Read> = {
  ip: text => addressOf(text, 'ipv4', 'be an IPv4 address, such as 192.0.2.10'),
  ipv6: text => addressOf(text, 'ipv6', 'be an IPv6 address, such as 2001:db8::10'),
  host: hostOf,
  string: (text, { pattern }) => {
    if (!/^[^\p{Cc}\u2028\u2029]*$/u.test(text)) return { rule: 'be a single line without control characters' }
    if (text === '') return { rule: 'not be empty' }
    if (pattern !== undefined && !compileRegex(pattern).testExact(text)) return { rule: `match ${pattern}` }
    return { value: text }
  },
  int: text => (/^(0|-?[1-9]\d{0,14})$/.test(text) ? { value: text } : { rule: 'be an integer with at most 15 digits' }),
  enum: (text, { values = [] }) => (values.includes(text) ? { value: text } : { rule: `be one of ${values.join(', ')}` }),
}

function addressOf(text: string, kind: 'ipv4' | 'ipv6', rule: string): Read {
  const address = parseAddress(text)
  return address?.kind() === kind ? { value: formatAddress(address) } : { rule }
}

/** Letters, digits, hyphens and underscores, in A-labels. A trailing dot is kept. */
function hostOf(text: string): Read {
  const rule = 'be a hostname, such as mail.example.net'
  const name = catchFormatError(
    () => lowerName(parseName(text, '.')),
    () => null,
  )
  const labels = name === null ? [] : labelsOf(name)
  if (name === null || labels.length === 0 || !labels.every(label => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label)))
    return { rule }
  return { value: text.endsWith('.') ? name : name.slice(0, -1) }
}
