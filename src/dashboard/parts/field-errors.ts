import type { FieldProblem } from '../../core/problem'
import { withArticle } from '../../registry'
import { labelOf, lowerFirst } from './labels'
import { capitalize } from './status'
import { isSame, type Values } from './values'

/** A field of a form that is on the page. */
export interface FormField {
  /** Name in the request body. */
  name: string
  label: string
  /** Names of the form values it shows and changes, if it isn’t only the one of the field. */
  reads: readonly string[]
  /** Other names in the request body whose errors belong to it. */
  also: readonly string[]
  /** Whether the user picks a value instead of typing it. */
  isPicked: boolean
  /** Whether a value is stored that the form doesn’t show, such as a password. */
  isStored: boolean
  /** Its value if it isn’t set. Undefined if the form’s defaults contain it. */
  unset: unknown
  /** Group of advanced settings that contains it. */
  group: string | null
}

/** The pointer to a field: `#/options/method`. */
export const pointerOf = (name: string): string => `#/${name.replaceAll('.', '/')}`
export const isWithin = (pointer: string, outer: string): boolean => pointer === outer || pointer.startsWith(`${outer}/`)
const pointersOf = ({ name, also }: FormField): string[] => [name, ...also].map(pointerOf)

/** Returns the field that shows an error: the most specific one for its pointer. Undefined if no field does. */
export function fieldAt(pointer: string, fields: readonly FormField[]): FormField | undefined {
  const matching = fields
    .flatMap(field => pointersOf(field).map(own => ({ field, own })))
    .filter(({ own }) => isWithin(pointer, own))
  const best = matching.toSorted((one, other) => other.own.length - one.own.length)[0]
  // An error of an object, such as a missing one, is shown at its first field.
  return best?.field ?? (pointer === '#' ? undefined : fields.find(field => isWithin(pointerOf(field.name), pointer)))
}

/** Returns the errors whose cause is still there after values were changed. */
export function remainingErrors(
  errors: readonly FieldProblem[],
  fields: readonly FormField[],
  before: Values,
  after: Values,
): FieldProblem[] {
  const changed = Object.keys(after).filter(name => !isSame(before[name], after[name]))
  if (changed.length === 0) return [...errors]
  return errors.filter(({ pointer }) => {
    const field = fieldAt(pointer, fields)
    // Errors without a field may be about anything.
    if (!field) return false
    return !changed.some(name => {
      const own = pointerOf(name)
      if (isWithin(pointer, own)) {
        const path = pointer.slice(own.length).split('/').slice(1)
        return !isSame(at(before[name], path), at(after[name], path))
      }
      return field.reads.includes(name) || name === field.name || name.startsWith(`${field.name}.`)
    })
  })
}

/** The value at a path, or the last one on the way: forms can have other fields than the API. */
function at(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const segment of path) {
    if (typeof found !== 'object' || found === null || (!Array.isArray(found) && !Object.hasOwn(found, segment))) return found
    found = (found as Record<string, unknown>)[segment]
  }
  return found
}

/** Describes an error for people: “Timeout must not be longer than the interval, 60 seconds.” */
export function errorText(
  { pointer, code, detail }: FieldProblem,
  fields: readonly FormField[] = [],
  values: Values = {},
): string {
  const field = fieldAt(pointer, fields)
  const label = field?.label ?? labelOf(lastName(pointer))
  if (field && isMissing(code, detail, field, values)) return missingText(field, code)
  const text = withLabels(withoutNull(withoutReference(detail)), fields).replace(/(?<![.!?])$/, '.')
  if (/^\p{Lu}/u.test(text)) return text
  const subject = field ? (itemAt(pointer, field, values) ?? label) : label
  return subject === '' ? capitalize(text) : `${subject} ${text}`
}

/** Whether the error is only that nothing was entered. */
function isMissing(code: string, detail: string, field: FormField, values: Values): boolean {
  if (code === 'too_few') return detail === 'must have at least 1 item.'
  if (code === 'required' && detail !== 'is required.') return false
  const value = valueOf(field, values)
  const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0)
  return code === 'required' || (isEmpty && ['too_short', 'type', 'pattern', 'format', 'enum', 'out_of_range'].includes(code))
}

/** The value of a field, which can be part of another one: `records.0.content` is in `records`. */
function valueOf({ name, reads }: FormField, values: Values): unknown {
  const key = reads[0] ?? Object.keys(values).find(one => name.startsWith(`${one}.`))
  return key === undefined ? undefined : at(values[key], reads[0] ? [] : name.slice(key.length + 1).split('.'))
}

const missingText = ({ label, isPicked }: FormField, code: string): string => {
  const verb = isPicked ? 'Select' : 'Enter'
  const noun = lowerFirst(label)
  if (code === 'too_few')
    return /[^s]s$/.test(noun) ? `${verb} at least one ${noun.slice(0, -1)}.` : `${label} must not be empty.`
  return `${verb} ${/[^s]s$/.test(noun) ? noun : withArticle(noun)}.`
}

/** An error without the document that defines the rule: “(RFC 1034 3.6.2)”. */
export const withoutReference = (detail: string): string => detail.replace(/ \((?:RFC|PowerDNS)[^()]*\)(?=\.?$)/, '')

/** Forms have no null: an empty field is null. */
const withoutNull = (detail: string): string => detail.replace(/,? or (?:be )?null(?=\.$)/, '')

/** Replaces names of fields by their labels. */
const withLabels = (detail: string, fields: readonly FormField[]): string =>
  detail.replace(/`([a-z][a-z0-9_.]*)`/g, (code, name: string) => {
    const named = fields.find(one => one.name === name || one.name.endsWith(`.${name}`))
    return named ? `“${named.label}”` : code
  })

/** The item of a list that an error is about, in quotes: “not an address”. */
function itemAt(pointer: string, field: FormField, values: Values): string | null {
  const own = pointersOf(field).find(one => pointer.startsWith(`${one}/`))
  if (own === undefined) return null
  const path = pointer
    .slice(own.length + 1)
    .split('/')
    .map(one => one.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (path.length > 1) return null
  const value = valueOf(field, values)
  const list = Array.isArray(value) ? value : typeof value === 'string' && value.includes('\n') ? value.split('\n') : value
  const key = path[0]!
  const item = /^\d+$/.test(key) ? (Array.isArray(list) ? list[Number(key)] : list) : String(value).includes(key) ? key : null
  return typeof item === 'string' && item !== '' && item.length <= 100 ? `“${item}”` : null
}

/** The last name in a pointer that isn’t a number. */
const lastName = (pointer: string): string =>
  pointer
    .replace(/^#\/?/, '')
    .split('/')
    .findLast(one => !/^\d*$/.test(one)) ?? ''
