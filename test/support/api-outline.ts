import type { OpenApiDocument } from '../../src/hub/openapi'

type Json = Record<string, any>

/**
 * The API document as sorted lines, one per operation, parameter and field, without descriptions, so that API changes are easy to
 * review as a diff.
 */
export function apiOutline({ paths, webhooks, components }: OpenApiDocument): string[] {
  const lines: string[] = []
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods) as [string, Json][]) {
      const name = `${method.toUpperCase()} ${path}`
      const responses = Object.entries(operation.responses ?? {}) as [string, Json][]
      const shared = responses.filter(([, response]) => response.$ref).map(([status]) => status)
      lines.push(`${name} = ${operation.operationId}${marks(operation)} ${securityOf(operation)}; ${shared.join(' ')}`)
      for (const one of operation.parameters ?? [])
        lines.push(
          one.$ref
            ? `${name} ?${lastOf(one.$ref)}`
            : `${name} ?${one.name} ${one.in}${one.required ? '!' : ''} ${typeOf(one.schema)}`,
        )
      contents(`${name} body`, operation.requestBody ?? {}, lines)
      for (const [status, response] of responses) if (!response.$ref) contents(`${name} ${status}`, response, lines)
    }
  }
  for (const [name, methods] of Object.entries(webhooks))
    for (const operation of Object.values(methods) as Json[]) contents(`webhook ${name}`, operation.requestBody ?? {}, lines)
  for (const [kind, parts] of Object.entries(components))
    for (const [name, part] of Object.entries(parts) as [string, Json][]) {
      // Has the members of the whole resource, all but these optional; fields.test.ts compares them.
      if (kind === 'schemas' && name.endsWith('Partial')) lines.push(`${name} requires ${(part.required ?? []).join(' ')}`)
      else if (kind === 'schemas') schema(name, part, lines)
      else lines.push(`${kind} ${name} ${JSON.stringify(withoutDescriptions(part))}`)
    }
  return lines.sort()
}

function contents(name: string, holder: Json, lines: string[]): void {
  const headers = Object.keys(holder.headers ?? {})
  if (headers.length > 0) lines.push(`${name} headers ${headers.sort().join(' ')}`)
  const content = Object.entries(holder.content ?? {}) as [string, Json][]
  if (content.length === 0 && /\d$/.test(name)) lines.push(`${name} no body`)
  for (const [type, media] of content) schema(`${name} ${type}`, media.schema ?? {}, lines)
}

/** Adds a line for the schema and one for each field, including nested ones. */
function schema(name: string, one: Json, lines: string[]): void {
  lines.push(`${name} : ${typeOf(one)}`)
  fields(name, one, lines)
}

function fields(name: string, one: Json, lines: string[]): void {
  for (const [field, inner] of Object.entries(one.properties ?? {}) as [string, Json][]) {
    lines.push(`${name}.${field}${one.required?.includes(field) ? '' : '?'} : ${typeOf(inner)}`)
    fields(`${name}.${field}`, inner, lines)
  }
  if (one.items) fields(`${name}[]`, one.items, lines)
  if (typeof one.additionalProperties === 'object') fields(`${name}{}`, one.additionalProperties, lines)
  for (const word of ['anyOf', 'oneOf', 'allOf'])
    for (const [at, inner] of (one[word] ?? []).entries()) fields(`${name}|${at}`, inner, lines)
}

/** The type of a schema, without its fields. */
function typeOf(one: Json): string {
  const { properties: _, required: __, ...rest } = withoutDescriptions(one)
  return JSON.stringify(rest, (key, value) => (key === 'properties' ? '…' : key === 'required' ? undefined : value))
}

function withoutDescriptions(one: unknown): any {
  if (Array.isArray(one)) return one.map(withoutDescriptions)
  if (typeof one !== 'object' || one === null) return one
  return Object.fromEntries(
    Object.entries(one).flatMap(([key, value]) =>
      descriptions.has(key) && (typeof value === 'string' || Array.isArray(value) || key === 'example')
        ? []
        : [[key, key === 'properties' ? mapValues(value as Json) : withoutDescriptions(value)]],
    ),
  )
}

const mapValues = (one: Json): Json =>
  Object.fromEntries(Object.entries(one).map(([key, value]) => [key, withoutDescriptions(value)]))

const descriptions = new Set(['description', 'summary', 'examples', 'example', 'x-rule', 'title'])
const lastOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)
const securityOf = (operation: Json) =>
  (operation.security ?? []).map((one: Json) => Object.keys(one).join('+') || 'none').join(' or ')
const marks = (operation: Json) =>
  Object.entries(operation)
    .filter(([key]) => key.startsWith('x-') || key === 'deprecated')
    .map(([key, value]) => ` ${key}=${JSON.stringify(value)}`)
    .join('')
