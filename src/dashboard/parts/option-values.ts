import type { Values } from './form'

/** What the API tells of an option: JSON Schema, as far as types of monitors and kinds of channels and providers use it. */
export interface OptionSchema {
  type?: string
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
}

export type OptionKind = 'choice' | 'variants' | 'check' | 'number' | 'area' | 'text' | 'lines' | 'pairs' | 'parts' | 'json'

const longestLine = 2048

/** How an option is asked for in a form. */
export function kindOf(schema: OptionSchema): OptionKind {
  if (schema['x-discriminator']) return 'variants'
  if (schema.anyOf?.every(one => one.const !== undefined)) return 'choice'
  if (schema.type === 'boolean') return 'check'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  if (schema.type === 'string') return (schema.maxLength ?? 0) > longestLine ? 'area' : 'text'
  if (schema.type === 'array' && schema.items?.type === 'string') return 'lines'
  if (schema.type === 'object' && schema.patternProperties) return 'pairs'
  if (schema.type === 'object' && schema.properties) return 'parts'
  return 'json'
}

/** The variant of an option that has several, by the word that tells them apart. */
export const variantOf = (schema: OptionSchema, word: string): OptionSchema | undefined =>
  schema.anyOf?.find(one => one.properties?.[schema['x-discriminator']!]?.const === word)

/** The words that tell its variants apart, with what each is called. */
export const variantsOf = (schema: OptionSchema): (readonly [string, string])[] =>
  (schema.anyOf ?? []).map(one => {
    const word = String(one.properties?.[schema['x-discriminator']!]?.const)
    return [word, one.title ?? word] as const
  })

/** The members of one variant, but for the word that names it. */
export const membersOfVariant = (schema: OptionSchema, variant: OptionSchema): [string, OptionSchema][] =>
  Object.entries(variant.properties ?? {}).filter(([name]) => name !== schema['x-discriminator'])

/** The fields of a form for an option that has this value; undefined is an option that is not set. */
export function fieldsOf(name: string, schema: OptionSchema, given: unknown): Values {
  const value = given ?? schema.default
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
    case 'parts':
      return allFields(name, Object.entries(schema.properties!), members)
    case 'variants': {
      const word = members ? String(members[schema['x-discriminator']!]) : ''
      const fields: Values = { [`${name}.${schema['x-discriminator']}`]: word }
      // Two variants may have a member of one name: that of the chosen one counts.
      const chosen = variantOf(schema, word)
      for (const variant of schema.anyOf ?? [])
        Object.assign(fields, allFields(name, membersOfVariant(schema, variant), undefined))
      if (chosen) Object.assign(fields, allFields(name, membersOfVariant(schema, chosen), members))
      return fields
    }
    case 'json':
      return { [name]: value === undefined || isEmptyList(value) ? '' : JSON.stringify(value, null, 2) }
  }
}

const allFields = (name: string, members: [string, OptionSchema][], value: Record<string, unknown> | undefined): Values =>
  Object.assign({}, ...members.map(([member, schema]) => fieldsOf(`${name}.${member}`, schema, value?.[member])))

/** The value of an option that the fields of a form stand for; undefined where it is left alone. */
export function valueOf(name: string, schema: OptionSchema, values: Values): unknown {
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
      // A list that is chosen rather than typed is one already.
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
    case 'parts':
      return membersFrom(name, Object.entries(schema.properties!), values)
    case 'variants': {
      const discriminator = schema['x-discriminator']!
      const word = String(values[`${name}.${discriminator}`] ?? '')
      const variant = variantOf(schema, word)
      return variant && { [discriminator]: word, ...membersFrom(name, membersOfVariant(schema, variant), values) }
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

/** The options that a form stands for, but for those that are as the type has them by itself. @param at member that they are below */
export const optionsFrom = (schemas: Record<string, OptionSchema>, values: Values, at = 'options'): Values =>
  Object.fromEntries(
    Object.entries(schemas).flatMap(([member, schema]) => {
      const value = valueOf(`${at}.${member}`, schema, values)
      return value === undefined || isSame(value, schema.default) ? [] : [[member, value]]
    }),
  )

/** What makes one object another by RFC 7396: members that differ, null for those that are gone. Undefined when nothing does. */
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
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')

// What is no JSON goes as it is: the API says what it wants.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
