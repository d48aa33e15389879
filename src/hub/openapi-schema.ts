import { deprecation } from '../core/deprecation'
import { discriminator, optionGroup, parameterName } from '../core/shapes'

/** A JSON Schema 2020-12, as OpenAPI 3.1 embeds it. */
export type JsonSchema = { [keyword: string]: any }

/** Thrown if two different shapes have the same name in the document. */
class SchemaClash extends Error {
  override name = 'SchemaClash'
}

// Keywords of our own validator, unknown to other tools.
const privateKeywords = new Set(['$id', 'x-rule', discriminator, deprecation, optionGroup, parameterName])
const maps = new Set(['properties', 'patternProperties', '$defs'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const singles = new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames'])

/** The schemas of one document. A shape with `$id` becomes a component, and is referenced wherever it is used. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {}
  /** Query parameters that operations share. */
  readonly parameters: Record<string, JsonSchema> = {}
  private readonly known = new Set<object>()

  /** Returns a shape as it appears in the document: a reference if it has a name. */
  of(shape: object): JsonSchema {
    const schema = shape as JsonSchema
    const name = schema.$id as string | undefined
    if (!name) return this.inline(schema)
    if (this.known.has(shape)) return { $ref: `#/components/schemas/${name}` }
    this.known.add(shape)
    const inlined = this.inline(schema)
    const known = this.components[name]
    if (known && JSON.stringify(known) !== JSON.stringify(inlined))
      throw new SchemaClash(`Two different shapes have the $id ${name}.`)
    this.components[name] = inlined
    return { $ref: `#/components/schemas/${name}` }
  }

  /** Returns a parameter as it appears in an operation: a reference if its schema names it. */
  parameter(shape: object, described: JsonSchema): JsonSchema {
    const name = (shape as JsonSchema)[parameterName] as string | undefined
    if (!name) return described
    const known = (this.parameters[name] ??= described)
    if (JSON.stringify(known) !== JSON.stringify(described)) throw new SchemaClash(`Two different parameters are named ${name}.`)
    return { $ref: `#/components/parameters/${name}` }
  }

  /** Resolves a reference into this document. */
  resolve(schema: JsonSchema): JsonSchema {
    return schema.$ref ? this.components[nameIn(schema.$ref)]! : schema
  }

  /**
   * Returns an example of a schema: its own if it has one, otherwise one composed of the examples of its fields.
   * @param schema as returned by `of`
   */
  exampleOf(schema: JsonSchema): unknown {
    const full = this.resolve(schema)
    if (full.examples) return full.examples[0]
    if ('const' in full) return full.const
    if ('default' in full) return full.default
    if (full.enum) return full.enum[0]
    if (full.anyOf ?? full.oneOf) return this.exampleOf((full.anyOf ?? full.oneOf)[0])
    const type = [full.type].flat()[0]
    if ([full.type].flat().includes('null')) return null
    switch (type) {
      case 'object':
        return Object.fromEntries(((full.required as string[]) ?? []).map(name => [name, this.exampleOf(full.properties[name])]))
      case 'array':
        return full.items ? [this.exampleOf(full.items)] : []
      case 'boolean':
        return false
      case 'integer':
      case 'number':
        return full.minimum ?? 1
      case 'string':
        return full.format === 'date-time' ? '2026-11-21T10:00:00.000Z' : full.format === 'date' ? '2026-11-21' : 'text'
      default:
        return null
    }
  }

  private inline(schema: JsonSchema): JsonSchema {
    const out: JsonSchema = {}
    for (const [keyword, value] of Object.entries(schema)) {
      if (privateKeywords.has(keyword) || value === undefined) continue
      if (keyword === 'additionalItems') continue
      if (keyword === 'items' && Array.isArray(value)) {
        // The validator has tuples of an older draft. maxItems rules out further items, because generators reject `items: false`.
        out.prefixItems = value.map(inner => this.of(inner))
        out.items = {}
      } else if (maps.has(keyword))
        out[keyword] = Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, this.of(inner)]))
      else if (lists.has(keyword)) out[keyword] = (value as object[]).map(inner => this.of(inner))
      else if (singles.has(keyword) && typeof value === 'object') out[keyword] = this.of(value as object)
      else out[keyword] = value
    }
    // Generated clients parse these formats to dates, and can’t apply a pattern to them.
    if (out.format === 'date-time' || out.format === 'date') delete out.pattern
    return asRecord(asUnion(asInteger(out), schema[discriminator] as string | undefined, this.components))
  }
}

/** Describes a constant integer as an enum: generators support few constants other than strings. */
function asInteger(schema: JsonSchema): JsonSchema {
  const { const: value, ...rest } = schema
  return Number.isInteger(value) ? { ...rest, type: 'integer', enum: [value] } : schema
}

/** Simplifies `anyOf` to an enum, a nullable type or a discriminated union where possible. */
function asUnion(schema: JsonSchema, discriminatedBy: string | undefined, components: Record<string, JsonSchema>): JsonSchema {
  if (!schema.anyOf) return schema
  const { anyOf, ...rest } = flattened(schema)
  const branches = anyOf as JsonSchema[]
  const nullable = branches.some(branch => branch.type === 'null')
  const others = branches.filter(branch => branch.type !== 'null')
  if (others.every(isWord)) {
    const words = others.map(branch => branch.const as string)
    return {
      ...rest,
      type: nullable ? ['string', 'null'] : 'string',
      enum: [...words, ...(nullable ? [null] : [])],
      ...(hasEqualNames(words) && { 'x-enum-varnames': words.map(nameOfWord) }),
    }
  }
  const only = others.length === 1 ? others[0]! : null
  if (nullable && only && typeof only.type === 'string' && !('const' in only)) {
    return { ...only, ...rest, type: [only.type, 'null'], ...(only.enum && { enum: [...only.enum, null] }) }
  }
  if (discriminatedBy && others.every(branch => branch.$ref) && !nullable) {
    // Without a mapping, the values would be the names of the components.
    const mapping = others.map(({ $ref }) => [components[nameIn($ref)]!.properties[discriminatedBy].const, $ref])
    return { ...rest, oneOf: others, discriminator: { propertyName: discriminatedBy, mapping: Object.fromEntries(mapping) } }
  }
  return withWords({ ...rest, anyOf: branches })
}

/** Generators name constants by the letters and digits of their values, so that `A+` and `A-` would have the same name. */
function hasEqualNames(words: readonly string[]): boolean {
  const names = words.filter(word => /^\w/.test(word)).map(word => word.replaceAll(/\W/g, ''))
  return new Set(names).size < names.length
}
const nameOfWord = (word: string): string => word.replace('+', '_PLUS').replace('-', '_MINUS').toUpperCase()

/** A union without unions in it that only have a description: generators name each level. */
function flattened({ anyOf, ...rest }: JsonSchema): JsonSchema {
  const isNested = (branch: JsonSchema) =>
    branch.anyOf && Object.keys(branch).every(one => one === 'anyOf' || one === 'description')
  const description = (anyOf as JsonSchema[]).find(isNested)?.description
  return {
    ...(description && { description }),
    ...rest,
    anyOf: (anyOf as JsonSchema[]).flatMap(branch => (isNested(branch) ? (branch.anyOf as JsonSchema[]) : [branch])),
  }
}

/** A union with its string constants as one enum. A default is part of the enum: generators can’t apply it to the union. */
function withWords(schema: JsonSchema): JsonSchema {
  const { anyOf, default: preset, ...rest } = schema
  const words = (anyOf as JsonSchema[]).filter(isWord).map(branch => branch.const)
  if (words.length < 2) return schema
  const others = (anyOf as JsonSchema[]).filter(branch => !isWord(branch))
  return { ...rest, anyOf: [{ type: 'string', enum: words, ...(preset !== undefined && { default: preset }) }, ...others] }
}

const isWord = (branch: JsonSchema): boolean => typeof branch.const === 'string'
const nameIn = (reference: string): string => reference.split('/').at(-1)!

/** TypeBox writes a record as a pattern for its names; `additionalProperties` is the common form. */
function asRecord(schema: JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema
  const [any, ...others] = Object.values(patternProperties ?? {})
  return any && others.length === 0 ? { ...rest, additionalProperties: any } : schema
}
