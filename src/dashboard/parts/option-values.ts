import type { Values } from './form'
import { isSame } from './values'

/** JSON Schema of an option, limited to the keywords used by check types and by channel and provider kinds. */
export interface OptionSchema {
  type?: string
  format?: string
  const?: unknown
  anyOf?: OptionSchema[]
  title?: string
  default?: unknown
  description?: string
  examples?: unknown[]
  properties?: Record<string, OptionSchema>
  required?: string[]
  patternProperties?: Record<string, OptionSchema>
  items?: OptionSchema
  minimum?: number
  maximum?: number
  maxLength?: number
  'x-discriminator'?: string
  /** Group of advanced settings that contains it. */
  'x-group'?: string
}

type OptionKind = 'choice' | 'variants' | 'check' | 'number' | 'area' | 'text' | 'lines' | 'pairs' | 'object' | 'json'

const maxLineLength = 2048

/** Returns the kind of form field for an option. */
export function kindOf(schema: OptionSchema): OptionKind {
  if (schema['x-discriminator']) return 'variants'
  if (schema.anyOf?.every(one => one.const !== undefined)) return 'choice'
  if (schema.type === 'boolean') return 'check'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string') return (schema.maxLength ?? 0) > maxLineLength ? 'area' : 'text'
  if (schema.type === 'array' && schema.items?.type === 'string') return 'lines'
  if (schema.type === 'object' && schema.patternProperties) return 'pairs'
  if (schema.type === 'object' && schema.properties) return 'object'
  return 'json'
}

/** Returns the variant of an option by its discriminator value. */
export const variantOf = (schema: OptionSchema, value: string): OptionSchema | undefined =>
  schema.anyOf?.find(one => one.properties?.[schema['x-discriminator']!]?.const === value)

/** Returns the discriminator value and title of each variant. */
export const variantsOf = (schema: OptionSchema): (readonly [string, string])[] =>
  (schema.anyOf ?? []).map(one => {
    const value = String(one.properties?.[schema['x-discriminator']!]?.const)
    return [value, one.title ?? value] as const
  })

/** Returns the fields of a variant, without the discriminator. */
export const fieldsOfVariant = (schema: OptionSchema, variant: OptionSchema): [string, OptionSchema][] =>
  Object.entries(variant.properties ?? {}).filter(([name]) => name !== schema['x-discriminator'])

/** Returns the form values for an option. Undefined means the option is not set. */
export function fieldsOf(name: string, schema: OptionSchema, current: unknown): Values {
  const value = current ?? schema.default
  const members = value as Record<string, unknown> | undefined
  switch (kindOf(schema)) {
    case 'check':
      return { [name]: value === true }
    case 'number':
      return { [name]: value ?? null }
    case 'choice':
    case 'text':
    case 'area':
      return { [name]: value === undefined || value === null ? '' : String(value) }
    case 'lines':
      return { [name]: ((value ?? []) as string[]).join('\n') }
    case 'pairs':
      return {
        [name]: Object.entries(members ?? {})
          .map(([key, text]) => `${key}: ${String(text)}`)
          .join('\n'),
      }
    case 'object':
      return allFields(name, Object.entries(schema.properties!), members)
    case 'variants': {
      const discriminator = members ? String(members[schema['x-discriminator']!]) : ''
      const fields: Values = { [`${name}.${schema['x-discriminator']}`]: discriminator }
      // Variants may share field names. Fields of the selected variant take precedence.
      const selected = variantOf(schema, discriminator)
      for (const variant of schema.anyOf ?? [])
        Object.assign(fields, allFields(name, fieldsOfVariant(schema, variant), undefined))
      if (selected) Object.assign(fields, allFields(name, fieldsOfVariant(schema, selected), members))
      return fields
    }
    case 'json':
      return { [name]: value === undefined || isEmptyList(value) ? '' : JSON.stringify(value, null, 2) }
  }
}

const allFields = (name: string, members: [string, OptionSchema][], value: Record<string, unknown> | undefined): Values =>
  Object.assign({}, ...members.map(([member, schema]) => fieldsOf(`${name}.${member}`, schema, value?.[member])))

/** Returns the value of an option from the form values. Undefined if it is not set. */
function valueOf(name: string, schema: OptionSchema, values: Values): unknown {
  const value = values[name]
  const text = typeof value === 'string' ? value : ''
  switch (kindOf(schema)) {
    case 'check':
      return value === true
    case 'number':
      return value ?? undefined
    case 'choice':
      return schema.anyOf!.find(one => String(one.const) === text)?.const
    case 'text':
    case 'area':
      return text === '' ? undefined : text
    case 'lines': {
      // Fields with a picker hold an array already.
      const lines = Array.isArray(value) ? (value as string[]) : linesOf(text)
      return lines.length > 0 || schema.default !== undefined ? lines : undefined
    }
    case 'pairs': {
      const pairs = linesOf(text).map(line => {
        const colon = line.indexOf(':')
        return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
      })
      return pairs.length > 0 ? Object.fromEntries(pairs) : undefined
    }
    case 'object':
      return membersFrom(name, Object.entries(schema.properties!), values)
    case 'variants': {
      const discriminator = schema['x-discriminator']!
      const type = String(values[`${name}.${discriminator}`] ?? '')
      const variant = variantOf(schema, type)
      return variant && { [discriminator]: type, ...membersFrom(name, fieldsOfVariant(schema, variant), values) }
    }
    case 'json':
      return text.trim() === '' ? schema.default : parsed(text)
  }
}

function membersFrom(name: string, members: [string, OptionSchema][], values: Values): Values | undefined {
  const found = members
    .map(([member, schema]) => [member, valueOf(`${name}.${member}`, schema, values), schema] as const)
    .filter(([, value, schema]) => value !== undefined && !isSame(value, schema.default))
  return found.length > 0 ? Object.fromEntries(found.map(([member, value]) => [member, value])) : undefined
}

/** Returns the options from the form values, without defaults. @param at parent field of the options */
export const optionsFrom = (schemas: Record<string, OptionSchema>, values: Values, at = 'options'): Values =>
  membersFrom(at, Object.entries(schemas), values) ?? {}

/** Returns a JSON merge patch (RFC 7396) with the changed fields, and null for removed ones. Undefined if nothing changed. */
export function mergePatch(before: Values, after: Values): Values | undefined {
  const patch: Values = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[name], after[name]]
    if (isSame(was, is)) continue
    patch[name] = is === undefined ? null : isObject(was) && isObject(is) ? mergePatch(was, is) : is
  }
  return Object.keys(patch).length > 0 ? patch : undefined
}

const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')

// Invalid JSON is sent unchanged, so that the API explains what is wrong.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
