import type { TSchema } from '@sinclair/typebox'
import { FormatRegistry, OptionalKind } from '@sinclair/typebox'
import { TypeCompiler, type TypeCheck, ValueErrorType, type ValueError } from '@sinclair/typebox/compiler'
import type { FieldProblem } from './problem'
import { discriminator } from './shapes'
import { canonicalTimezone } from './wall-clock'

const maxErrors = 20
const maxValidatedItems = 1000
const checks = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** The compiled validator of a schema, created on first use. */
function compiled<T extends TSchema>(schema: T): TypeCheck<T> {
  let check = checks.get(schema)
  if (!check) checks.set(schema, (check = TypeCompiler.Compile(schema)))
  return check as TypeCheck<T>
}

/** Validation errors of `value`, at most one per field. If empty, `value` is a `Static<T>`. */
export function fieldProblems<T extends TSchema>(schema: T, value: unknown, prefix = '#'): FieldProblem[] {
  const check = compiled(schema)
  if (check.Check(value)) return []
  const found = new Map<string, FieldProblem>()
  for (const error of check.Errors(value)) {
    if (isShortEnough(error)) continue
    for (const problem of explain(error, prefix)) if (!found.has(problem.pointer)) found.set(problem.pointer, problem)
    if (found.size >= maxErrors || isHuge(error)) break
  }
  return [...found.values()]
}

/** Whether an array has so many items that validating each of them takes too long. */
const isHuge = ({ type, value }: ValueError): boolean =>
  type === ValueErrorType.ArrayMaxItems && (value as unknown[]).length > maxValidatedItems

/** JSON Schema counts characters (2020-12 validation, section 6.3.1), but the validator counts UTF-16 code units. */
function isShortEnough({ type, schema, value }: ValueError): boolean {
  if (type !== ValueErrorType.StringMaxLength) return false
  const text = value as string
  // A character has at most two code units. The characters of a longer text are not counted: it can have millions.
  return text.length <= 2 * schema.maxLength && [...text].length <= schema.maxLength
}

function explain(error: ValueError, prefix: string): FieldProblem[] {
  const { schema, value, path } = error
  const member = schema[discriminator] as string | undefined
  if (error.type === ValueErrorType.Union && member) {
    const branches = schema.anyOf as TSchema[]
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [{ pointer: prefix + path, code: 'type', detail: 'must be an object.' }]
    const named = (value as Record<string, unknown>)[member]
    const branch = branches.find(one => one.properties?.[member]?.const === named)
    if (branch) return fieldProblems(branch, value, prefix + path)
    const words = branches.map(one => JSON.stringify(one.properties[member].const)).join(', ')
    return [
      {
        pointer: `${prefix}${path}/${member}`,
        code: named === undefined ? 'required' : 'enum',
        detail: `must be one of ${words}.`,
      },
    ]
  }
  const branch = error.type === ValueErrorType.Union ? onlyBranch(schema, value) : null
  // For a nullable value, or one of several types, report the errors of its own branch.
  if (branch && value !== null && value !== undefined) {
    const own = prefix + path
    const isNullable = (schema.anyOf as TSchema[]).some(one => one.type === 'null')
    return fieldProblems(branch, value, own).map(one =>
      isNullable && one.pointer === own ? { ...one, detail: orNull(one.detail) } : one,
    )
  }
  return [{ pointer: prefix + path, ...rule(error, prefix + path) }]
}

/** Adds null to the values that a rule allows. */
const orNull = (detail: string): string => detail.replace(/\.$/, detail.startsWith('must be ') ? ' or null.' : ', or be null.')

/** The only non-null branch of a union, or the only one with the type of the value; null if there are several, as in an enum. */
function onlyBranch(schema: TSchema, value: unknown): TSchema | null {
  const rest = ((schema.anyOf ?? []) as TSchema[]).filter(one => one.type !== 'null')
  if (rest.length === 1) return rest[0]!
  const type = Array.isArray(value) ? 'array' : typeof value
  const [own, ...others] = rest.filter(one => one.type === type)
  return own && others.length === 0 && own.const === undefined ? own : null
}

function rule(error: ValueError, pointer: string): { code: string; detail: string } {
  const { schema, type } = error
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { code: 'required', detail: 'is required.' }
    case ValueErrorType.ObjectAdditionalProperties:
      // For a map whose keys must match a pattern, report the rule for the keys.
      if (schema.patternProperties && schema['x-rule']) return { code: 'pattern', detail: schema['x-rule'] }
      return { code: 'unknown_field', detail: 'is not a known field.' }
    case ValueErrorType.ObjectMaxProperties:
      return {
        code: 'too_many',
        detail: `must have at most ${schema.maxProperties} field${schema.maxProperties === 1 ? '' : 's'}.`,
      }
    case ValueErrorType.StringMinLength:
      return {
        code: 'too_short',
        detail: schema.minLength === 1 ? 'must not be empty.' : `must have at least ${schema.minLength} characters.`,
      }
    case ValueErrorType.StringMaxLength:
      return { code: 'too_long', detail: `must have at most ${schema.maxLength} characters.` }
    case ValueErrorType.StringPattern:
      return { code: 'pattern', detail: schema['x-rule'] ?? `must match ${schema.pattern}.` }
    case ValueErrorType.StringFormat:
      return { code: 'format', detail: `must be ${formatNames[schema.format as string] ?? schema.format}.` }
    case ValueErrorType.ArrayMaxItems:
      return { code: 'too_many', detail: `must have at most ${schema.maxItems} items.` }
    case ValueErrorType.ArrayMinItems:
      return { code: 'too_few', detail: `must have at least ${schema.minItems} item${schema.minItems === 1 ? '' : 's'}.` }
    case ValueErrorType.ArrayUniqueItems:
      return { code: 'not_unique', detail: 'must not contain duplicates.' }
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.NumberMaximum:
      return { code: 'out_of_range', detail: rangeOf(schema, unitOf(pointer)) }
    case ValueErrorType.Integer:
      return { code: 'type', detail: 'must be a whole number.' }
    case ValueErrorType.Number:
      return { code: 'type', detail: 'must be a number.' }
    case ValueErrorType.String:
      return { code: 'type', detail: 'must be a string.' }
    case ValueErrorType.Boolean:
      return { code: 'type', detail: 'must be true or false.' }
    case ValueErrorType.Array:
      return { code: 'type', detail: 'must be an array.' }
    case ValueErrorType.Object:
      return { code: 'type', detail: 'must be an object.' }
    case ValueErrorType.Literal:
      return { code: 'enum', detail: `must be ${JSON.stringify(schema.const)}.` }
    case ValueErrorType.Union:
      return { code: isEnum(schema) ? 'enum' : 'type', detail: unionRule(schema) }
    case ValueErrorType.Kind:
      return {
        code: 'enum',
        detail: schema.enum
          ? `must be one of ${schema.enum.map((word: string) => JSON.stringify(word)).join(', ')}.`
          : 'has an invalid value.',
      }
    default:
      return { code: 'invalid', detail: `${error.message}.` }
  }
}

function rangeOf({ minimum, maximum }: TSchema, unit: string | null): string {
  const shown = (value: number) => (unit === null ? String(value) : value.toLocaleString('en-US'))
  const withUnit = (value: number) =>
    unit === null ? String(value) : `${shown(value)} ${value === 1 && unit !== 'ms' ? unit.slice(0, -1) : unit}`
  if (minimum !== undefined && maximum !== undefined) return `must be between ${shown(minimum)} and ${withUnit(maximum)}.`
  return minimum !== undefined ? `must be at least ${withUnit(minimum)}.` : `must be at most ${withUnit(maximum)}.`
}

/** The unit of a field, which its name ends with. Numbers of other fields, such as ports, have none. */
function unitOf(pointer: string): string | null {
  const name = pointer.replace(/\/\d+$/, '')
  if (/[_/]ttl$/.test(name)) return 'seconds'
  return /_(seconds|minutes|hours|days|bytes|ms)$/.exec(name)?.[1] ?? null
}

const isEnum = (schema: TSchema): boolean =>
  ((schema.anyOf ?? []) as TSchema[]).every(one => one.const !== undefined || one.type === 'null')

function unionRule(schema: TSchema): string {
  const branches = schema.anyOf as TSchema[]
  if (!isEnum(schema)) return `must be ${listed([...new Set(branches.map(describeType))])}.`
  const words = branches.filter(one => one.type !== 'null').map(one => JSON.stringify(one.const))
  return `must be one of ${words.join(', ')}${words.length < branches.length ? ' or null' : ''}.`
}

/** Describes one of several allowed types. */
function describeType(schema: TSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type !== 'integer' && schema.type !== 'number')
    return forms[schema.type as string] ?? 'a value that matches its schema'
  const { minimum, maximum } = schema
  const range =
    minimum === undefined ? '' : maximum === undefined ? ` of at least ${minimum}` : ` between ${minimum} and ${maximum}`
  return `${schema.type === 'integer' ? 'a whole number' : 'a number'}${range}`
}

const forms: Record<string, string> = {
  null: 'null',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

const formatNames: Record<string, string> = {
  'date-time': 'an RFC 3339 date and time, such as 2027-01-31T12:00:00Z',
  date: 'a date in the form YYYY-MM-DD',
  'date-or-time': 'a date in the form YYYY-MM-DD, or an RFC 3339 date and time',
  email: 'an email address',
  uri: 'an absolute URL',
  timezone: 'an IANA time zone name such as Europe/Berlin',
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i
// Date.parse turns February 30 into March 2.
const isDay = (date: string): boolean => {
  const ms = Date.parse(`${date}T00:00:00Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}
const isTime = (text: string): boolean => rfc3339.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text))
const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text)
FormatRegistry.Set('date-time', isTime)
FormatRegistry.Set('date', isDate)
FormatRegistry.Set('date-or-time', text => isDate(text) || isTime(text))
// No control characters and no bidirectional controls: other users see the address too.
const mail = /^[^\s@\p{Cc}\p{Bidi_Control}]+@[^\s@\p{Cc}\p{Bidi_Control}]+$/u
FormatRegistry.Set('email', text => mail.test(text) && text.length <= 254)
FormatRegistry.Set('uri', text => URL.canParse(text))
FormatRegistry.Set('timezone', text => canonicalTimezone(text) !== null)

/** Whether a field is optional. */
export const isOptional = (schema: TSchema): boolean => schema[OptionalKind] === 'Optional'
