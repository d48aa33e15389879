import { deprecation } from '../core/deprecation'
import { discriminator } from '../core/shapes'

/** A JSON Schema 2020-12, as OpenAPI 3.1 embeds it. */
export type JsonSchema = { [keyword: string]: any }

/** Thrown when two different shapes claim one name in the document. */
export class SchemaClash extends Error {
  override name = 'SchemaClash'
}

// Words of our own validator, which other readers of a schema do not know.
const privateKeywords = new Set(['$id', 'x-rule', discriminator, deprecation])
const maps = new Set(['properties', 'patternProperties', '$defs'])
const lists = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const singles = new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames'])

/** The schemas of one document. A shape with `$id` is written out once, and referred to wherever else it stands. */
export class Schemas {
  readonly components: Record<string, JsonSchema> = {}

  /** The form of a shape that goes into the document: a reference when it has a name. */
  of(shape: object): JsonSchema {
    const schema = shape as JsonSchema
    const name = schema.$id as string | undefined
    if (!name) return this.inline(schema)
    const written = this.inline(schema)
    const known = this.components[name]
    if (known && JSON.stringify(known) !== JSON.stringify(written))
      throw new SchemaClash(`Two different shapes have the $id ${name}.`)
    this.components[name] = written
    return { $ref: `#/components/schemas/${name}` }
  }

  /** Follows a reference into this document. */
  resolve(schema: JsonSchema): JsonSchema {
    const name = (schema.$ref as string | undefined)?.split('/').at(-1)
    return name ? this.components[name]! : schema
  }

  /**
   * A value that fits a schema: its own example where it has one, else put together from the examples of its members.
   * @param schema as `of` returned it
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
      if (maps.has(keyword))
        out[keyword] = Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, this.of(inner)]))
      else if (lists.has(keyword)) out[keyword] = (value as object[]).map(inner => this.of(inner))
      else if (singles.has(keyword) && typeof value === 'object') out[keyword] = this.of(value as object)
      else out[keyword] = value
    }
    return asRecord(asUnion(out, schema[discriminator] as string | undefined))
  }
}

/** `anyOf` in the shortest form that says the same: an enumeration, a nullable type, a told-apart union. */
function asUnion(schema: JsonSchema, told: string | undefined): JsonSchema {
  if (!schema.anyOf) return schema
  const { anyOf, ...rest } = schema
  const branches = (anyOf as JsonSchema[]).flatMap(branch =>
    branch.anyOf && Object.keys(branch).length === 1 ? (branch.anyOf as JsonSchema[]) : [branch],
  )
  const nullable = branches.some(branch => branch.type === 'null')
  const others = branches.filter(branch => branch.type !== 'null')
  if (others.every(branch => 'const' in branch && typeof branch.const === 'string')) {
    return {
      ...rest,
      type: nullable ? ['string', 'null'] : 'string',
      enum: [...others.map(branch => branch.const), ...(nullable ? [null] : [])],
    }
  }
  const only = others.length === 1 ? others[0]! : null
  if (nullable && only && typeof only.type === 'string' && !('const' in only)) {
    return { ...only, ...rest, type: [only.type, 'null'], ...(only.enum && { enum: [...only.enum, null] }) }
  }
  if (told && others.every(branch => branch.$ref) && !nullable)
    return { ...rest, oneOf: others, discriminator: { propertyName: told } }
  return { ...rest, anyOf: branches }
}

/** TypeBox writes "any name" as a pattern that fits everything; `additionalProperties` says it plainly. */
function asRecord(schema: JsonSchema): JsonSchema {
  const { patternProperties, ...rest } = schema
  const any = patternProperties?.['^(.*)$']
  return any ? { ...rest, additionalProperties: any } : schema
}
