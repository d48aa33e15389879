import Ajv, { type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import published from '../../fixtures/hetzner-openapi.json'
import type { ApiRequest, ApiResponse } from '../api-double'

// Compares requests and responses with the published API description of Hetzner Cloud. The fixture is an extract of it.

type Schema = Record<string, unknown>
interface Operation {
  query?: Record<string, Schema>
  body?: Schema
  /** By status; null for an empty response. */
  responses: Record<string, Schema | null>
}

const described = published.operations as unknown as Record<string, Operation>
const operations = Object.entries(described).map(([name, operation]) => {
  const [method, path] = name.split(' ') as [string, string]
  return {
    name,
    method,
    path,
    operation,
    pattern: RegExp(`^${path.replaceAll('{id}', '\\d+').replaceAll('{action_id}', '\\d+')}$`),
  }
})

/** Finds the operation of a request; null if there is none. */
export const operationOf = ({ method, path }: Pick<ApiRequest, 'method' | 'path'>): string | null =>
  operations.find(one => one.method === method && one.pattern.test(path))?.name ?? null

/** Whether the path of a request exists with other methods. */
export const isPath = (path: string): boolean => operations.some(one => one.pattern.test(path))

/**
 * Validates the query of a request; returns the first error, or null. The API ignores parameters that it doesn’t know.
 * @param operation as {@link operationOf} returns
 */
export function queryOffence(operation: string, query: URLSearchParams): string | null {
  const { query: parameters = {} } = described[operation]!
  for (const name of new Set(query.keys())) {
    const parameter = parameters[name]
    if (!parameter) return `query parameter ${name} is unknown`
    const isList = parameter.type === 'array'
    if (!isList && query.getAll(name).length > 1) return `query parameter ${name} is repeated`
    const check = compiled(`${operation} ${name}`, () => resolved(parameter, '/schemas/'))
    // Names can look like numbers.
    const isValid = [query.getAll(name), query.getAll(name).map(typed)].some(values => check(isList ? values : values[0]))
    if (!isValid) return `query parameter ${name} ${ajv.errorsText(check.errors)}`
  }
  return null
}

/** Validates the body of a request, in which the operation must know all fields; returns the first error, or null. */
export function bodyOffence(operation: string, body: unknown): string | null {
  const { body: schema } = described[operation]!
  if (!schema) return body === undefined || Object.keys(body as object).length === 0 ? null : 'a body is not expected'
  const check = compiled(`${operation} body`, () => resolved(schema, '/requests/'))
  return check(body ?? {}) ? null : `body ${ajv.errorsText(check.errors)}`
}

/** Validates a response; returns the first error, or null. */
export function responseOffence(operation: string | null, { status, body }: ApiResponse): string | null {
  if (status >= 400) return offenceOf('error', () => ({ $ref: '/schemas/error_response' }), body)
  const schema = operation === null ? undefined : described[operation]!.responses[status]
  if (schema === undefined) return `status ${status} is unknown`
  if (schema === null) return body === undefined ? null : 'a body is not expected'
  return offenceOf(`${operation} ${status}`, () => resolved(schema, '/schemas/'), body)
}

// “ID or name”, according to their descriptions: the official clients send ids as numbers.
const references = new Set(['image', 'server_type', 'location', 'ssh_keys'])

const ajv = addFormats(new Ajv({ allowUnionTypes: true, strictTypes: false }))
for (const [name, schema] of Object.entries(published.schemas as unknown as Record<string, Schema>)) {
  ajv.addSchema(resolved(schema, '/schemas/'), `/schemas/${name}`)
  // Old versions of the command line send the gateway of a subnet, as it is in responses.
  const more = name === 'subnet' ? { gateway: { type: 'string' } } : {}
  const properties = { ...(schema.properties as object | undefined), ...more }
  ajv.addSchema(
    resolved({ ...schema, ...(schema.properties !== undefined && { properties }) }, '/requests/'),
    `/requests/${name}`,
  )
}

const validators = new Map<string, ValidateFunction>()

function compiled(key: string, schema: () => Schema): ValidateFunction {
  const known = validators.get(key) ?? ajv.compile(schema())
  validators.set(key, known)
  return known
}

function offenceOf(key: string, schema: () => Schema, body: unknown): string | null {
  const check = compiled(key, schema)
  return check(body) ? null : ajv.errorsText(check.errors)
}

/** Converts a schema of OpenAPI 3.0 to JSON Schema. Objects in requests may only have known fields. */
function resolved(schema: Schema, place: '/schemas/' | '/requests/'): Schema {
  const { nullable, $ref, ...rest } = schema
  if (typeof $ref === 'string') return { $ref: $ref.replace('#/schemas/', place) }
  const converted = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      if (key === 'properties') return [key, mapped(value as Record<string, Schema>, place)]
      if (key === 'items' || key === 'additionalProperties') return [key, resolved(value as Schema, place)]
      if (key === 'allOf') return [key, (value as Schema[]).map(one => resolved(one, place))]
      return [key, value]
    }),
  )
  if (place === '/requests/' && converted.properties) converted.additionalProperties = false
  return nullable ? { anyOf: [converted, { type: 'null' }] } : converted
}

function mapped(properties: Record<string, Schema>, place: '/schemas/' | '/requests/'): Record<string, Schema> {
  const idOrName = { type: ['string', 'integer'] }
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const isReference = place === '/requests/' && references.has(name)
      if (isReference && schema.type === 'string') return [name, idOrName]
      if (isReference && (schema.items as Schema | undefined)?.type === 'string') return [name, { ...schema, items: idOrName }]
      return [name, resolved(schema, place)]
    }),
  )
}

const typed = (text: string): unknown =>
  /^\d{1,15}$/.test(text) ? Number(text) : text === 'true' || text === 'false' ? text === 'true' : text
