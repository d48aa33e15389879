import fc from 'fast-check'

/** A schema of the OpenAPI document, JSON Schema 2020-12. */
export type JsonSchema = { [keyword: string]: any }

/** Draws a value of an arbitrary, reproducible with the seed of the run. */
export type Draw = <T>(from: fc.Arbitrary<T>) => T

/** Values to use in addition to the schemas: URLs that may be called, and values of earlier responses. */
export interface Known {
  addresses: readonly string[]
  /** Values of a field in responses, such as `uuid`; IDs under `id`. */
  seen(name: string): readonly string[]
}

/** Draws values that match schemas of a document. For fields with known names, prefers known values. */
export class SchemaValues {
  constructor(
    private readonly document: JsonSchema,
    private readonly draw: Draw,
    private readonly known: Known,
  ) {}

  /** A body of a media type: in half of the cases its example, with some fields replaced. */
  body(media: { schema: JsonSchema; example?: unknown }): unknown {
    const schema = this.resolve(media.schema)
    const example = this.draw(fc.constantFrom(media.example, ...((schema.examples as unknown[]) ?? [])))
    if (!isObject(example) || !schema.properties || this.chance(0.5)) return this.of(schema)
    const body: Record<string, unknown> = {}
    for (const [name, member] of Object.entries<JsonSchema>(schema.properties)) {
      if (name in example && (isAddress(name) || !this.chance(0.25)))
        body[name] = isAddress(name) ? this.of(member, name) : example[name]
      else if (name in example ? schema.required?.includes(name) : this.chance(0.2)) body[name] = this.of(member, name)
    }
    return body
  }

  /** A value that matches a schema. @param name the name of the field */
  of(reference: JsonSchema, name = '', depth = 0): unknown {
    const schema = this.resolve(reference)
    if ('const' in schema) return schema.const
    if (schema.enum) return this.draw(fc.constantFrom(...(schema.enum as unknown[])))
    const branches = (schema.oneOf ?? schema.anyOf) as JsonSchema[] | undefined
    if (branches) return this.of(this.draw(fc.constantFrom(...branches)), name, depth)
    const type = Array.isArray(schema.type) ? this.draw(fc.constantFrom(...(schema.type as string[]))) : schema.type
    switch (type) {
      case 'object':
        return this.objectOf(schema, depth)
      case 'array': {
        if (schema.prefixItems) return (schema.prefixItems as JsonSchema[]).map(one => this.of(one, name, depth + 1))
        const max = Math.min(schema.maxItems ?? 5, Math.max(5, schema.minItems ?? 0))
        const length = this.draw(fc.integer({ min: schema.minItems ?? 0, max }))
        const items = Array.from({ length }, () => this.of(schema.items ?? {}, name, depth + 1))
        return schema.uniqueItems ? items.filter((one, at) => items.findIndex(other => Bun.deepEquals(one, other)) === at) : items
      }
      case 'integer':
        return this.numberOf(schema)
      case 'number':
        return this.draw(fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true }))
      case 'boolean':
        return this.draw(fc.boolean())
      case 'null':
        return null
      case 'string':
        return this.textOf(schema, name)
      default:
        return this.draw(fc.jsonValue({ maxDepth: 2 }))
    }
  }

  /** Resolves a reference. */
  resolve(schema: JsonSchema): JsonSchema {
    if (!schema.$ref) return schema
    let found: JsonSchema = this.document
    for (const part of (schema.$ref as string).slice(2).split('/'))
      found = found[part.replaceAll('~1', '/').replaceAll('~0', '~')]
    return this.resolve(found)
  }

  private chance(of: number): boolean {
    return this.draw(fc.integer({ min: 0, max: 99 })) < of * 100
  }

  private objectOf(schema: JsonSchema, depth: number): Record<string, unknown> {
    const value: Record<string, unknown> = {}
    const required = (schema.required as string[]) ?? []
    for (const [name, member] of Object.entries<JsonSchema>(schema.properties ?? {}))
      if (required.includes(name) || this.chance(depth > 3 ? 0.1 : 0.5)) value[name] = this.of(member, name, depth + 1)
    if (isObject(schema.additionalProperties))
      for (let left = this.draw(fc.nat(3)); left > 0; left--)
        value[this.draw(memberName)] = this.of(schema.additionalProperties as JsonSchema, '', depth + 1)
    return value
  }

  private numberOf(schema: JsonSchema): number {
    const min = schema.minimum ?? (schema.exclusiveMinimum === undefined ? -(2 ** 31) : schema.exclusiveMinimum + 1)
    const max = schema.maximum ?? (schema.exclusiveMaximum === undefined ? 2 ** 31 : schema.exclusiveMaximum - 1)
    return this.draw(fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, Math.min(min + 1, max))))
  }

  private textOf(schema: JsonSchema, name: string): string {
    if (isAddress(name)) return this.draw(fc.constantFrom(...this.known.addresses))
    const seen = this.known.seen(/_ids?$/.test(name) ? 'id' : name)
    const examples = ((schema.examples as unknown[]) ?? []).filter(one => typeof one === 'string')
    const arbitrary =
      schema.format && formats[schema.format]
        ? formats[schema.format]!
        : schema.pattern
          ? patterned(schema.pattern)
          : fc.string({ unit: plainUnit, minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 40, 300) })
    const edge =
      schema.maxLength && !schema.pattern && !schema.format
        ? ['x', '🜁'].map(one => fc.constant(one.repeat(Math.min(schema.maxLength, 20_000))))
        : []
    const sized = fc
      .oneof(
        { weight: 6, arbitrary },
        ...edge.map(one => ({ weight: 1, arbitrary: one })),
        ...(seen.length > 0 ? [{ weight: 6, arbitrary: fc.constantFrom(...seen) }] : []),
        ...(examples.length > 0 ? [{ weight: 3, arbitrary: fc.constantFrom(...examples) }] : []),
      )
      .map(text => fit(text, schema))
    return this.draw(sized)
  }
}

/** Fields that say where the hub connects to. They only get known URLs. */
export const isAddress = (name: string): boolean => /(^|_)(url|uri|host|address|server)$/.test(name)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const plainUnit = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...'abcdefghij XYZ0123456789-_.:/*,') },
  { weight: 2, arbitrary: fc.constantFrom(...'éßЖ中אع🜁', '\u202e', '\u0301', '\n', '\t', "'", '"', '\\', '%', '<', '\u2028') },
)

const memberName = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abcXYZ-09'), minLength: 1, maxLength: 20 }),
  fc.constantFrom('X-Env', 'Authorization', 'constructor', 'toString', 'hasOwnProperty', 'length', ''),
)

const moment = fc
  .date({ min: new Date('1971-01-01'), max: new Date('2190-01-01'), noInvalidDate: true })
  .map(one => one.toISOString())
const formats: Record<string, fc.Arbitrary<string>> = {
  'date-time': fc.oneof(
    moment,
    moment.map(one => one.replace('Z', '+05:30')),
    moment.map(one => one.replace(/\.\d+/, '')),
  ),
  date: moment.map(one => one.slice(0, 10)),
  email: fc.emailAddress(),
  uuid: fc.uuid(),
  ipv4: fc.ipV4(),
  ipv6: fc.ipV6(),
}

const byPattern = new Map<string, fc.Arbitrary<string>>()
/** Texts that match a pattern. For patterns with lookahead, tries some texts. */
function patterned(pattern: string): fc.Arbitrary<string> {
  let found = byPattern.get(pattern)
  if (!found) {
    const form = new RegExp(pattern, 'u')
    try {
      found = fc.stringMatching(form, { maxLength: 60 })
    } catch {
      found = fc
        .array(fc.oneof(fc.string({ unit: plainUnit, maxLength: 30 }), fc.constantFrom('a', '1', 'x-1')), { maxLength: 3 })
        .map(parts => {
          const text = parts.join('')
          return form.test(text) ? text : 'a1'
        })
    }
    byPattern.set(pattern, found)
  }
  return found
}

function fit(text: string, schema: JsonSchema): string {
  const cut = schema.maxLength === undefined ? text : [...text].slice(0, schema.maxLength).join('')
  return cut.padEnd(schema.minLength ?? 0, 'x')
}
