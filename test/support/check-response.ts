import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { openapiDocument } from '../../src/hub/openapi'

const document = await openapiDocument()
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
// The document is the root for resolving references, but not a schema itself.
ajv.addSchema(document, 'openapi.json', undefined, false)
const checks = new Map<string, ValidateFunction>()

/**
 * Checks a response against the OpenAPI document: operation, status, content type, headers and body.
 * @param body the parsed JSON; undefined if the response is not JSON
 * @throws Error that describes the difference
 */
export function checkResponse(method: string, path: string, response: Response, body: unknown): void {
  const where = `${method} ${path} returned ${response.status}`
  const pathname = path.split('?')[0]!
  const operation = operationAt(method, pathname)
  if (!operation) {
    if (response.status >= 400 && body !== undefined) return checkBody(where, '#/components/schemas/Problem', body)
    if (pathname.startsWith('/v1/') && pathname !== '/v1/openapi.json' && method !== 'HEAD')
      throw new Error(`${where}, but the document has no such operation.`)
    return
  }
  const pointer = `${operation}/responses/${response.status}`
  const entry = at(pointer)
  if (!entry)
    throw new Error(
      `${where}, a status that the document does not have (it has ${Object.keys(at(`${operation}/responses`)).join(', ')}).`,
    )
  // The reference has the description of this operation.
  const documented = entry.$ref ? { ...at(entry.$ref.slice(1)), description: entry.description } : entry
  const code = response.status >= 400 ? (body as { code?: string } | undefined)?.code : undefined
  if (code && !documented.description.includes(`\`${code}\``))
    throw new Error(`${where} with the code ${code}, which the document does not list for it.`)
  const resolvedPointer = entry.$ref ? entry.$ref.slice(1) : pointer
  for (const [name, header] of Object.entries<{ $ref: string }>(documented.headers ?? {})) {
    if (at(header.$ref.slice(1)).required && !response.headers.has(name)) throw new Error(`${where} without the header ${name}.`)
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? null
  if (!documented.content) {
    if (body !== undefined) throw new Error(`${where} with a body, where the document has none.`)
    return
  }
  if (!type || !documented.content[type])
    throw new Error(`${where} as ${type}; the document says ${Object.keys(documented.content).join(' or ')}.`)
  if (body === undefined) return
  const schema = `${resolvedPointer}/content/${escaped(type)}/schema`
  const query = new URLSearchParams(path.split('?')[1])
  const [whole, partial] = (at(schema).anyOf ?? []).map((one: any) => one.$ref?.slice(1)) as (string | undefined)[]
  if (!partial?.endsWith('Partial')) return checkBody(where, `#${schema}`, body)
  const fields = response.status === 200 ? query.get('fields') : null
  if (fields === null) return checkBody(where, `#${whole!}`, body)
  checkBody(where, `#${partial}`, body)
  checkFields(where, whole!, fields.split(','), body)
}

/**
 * Checks that resources have exactly the requested fields, `id` and `expanded`.
 * @param pointer schema of the whole response
 */
function checkFields(where: string, pointer: string, fields: string[], body: any): void {
  const response = at(pointer)
  const items = response.properties.data?.items
  const resource = items ? resolved(items) : response
  const requested = ['id', ...fields]
  for (const one of items ? body.data : [body]) {
    const missing = resource.required.filter((name: string) => requested.includes(name) && !(name in one))
    const extra = Object.keys(one).filter(name => name !== 'expanded' && !requested.includes(name))
    if (missing.length > 0) throw new Error(`${where} without ${missing.join(', ')}.`)
    if (extra.length > 0) throw new Error(`${where} with ${extra.join(', ')} in addition.`)
  }
}

const resolved = (schema: any): any => (schema.$ref ? at(schema.$ref.slice(1)) : schema)

/** Returns the pointer to the operation of a path, or null. Paths without parameters take precedence. */
function operationAt(method: string, pathname: string): string | null {
  const parts = pathname.split('/')
  const matching = Object.keys(document.paths)
    .filter(template => {
      const expected = template.split('/')
      return (
        expected.length === parts.length &&
        expected.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]))
      )
    })
    .sort((a, b) => a.split('{').length - b.split('{').length)
  const template = matching.find(one => document.paths[one]![method.toLowerCase()])
  return template ? `/paths/${escaped(template)}/${method.toLowerCase()}` : null
}

function checkBody(where: string, pointer: string, body: unknown): void {
  let check = checks.get(pointer)
  if (!check) checks.set(pointer, (check = ajv.compile({ $ref: `openapi.json${pointer}` })))
  if (check(body)) return
  const wrong = check
    .errors!.slice(0, 5)
    .map(error => `  ${error.instancePath || '(the body)'} ${error.message} ${JSON.stringify(error.params)}`)
  throw new Error(
    `${where}, and the body does not match ${decodeURIComponent(pointer)}:\n${wrong.join('\n')}\n  body: ${JSON.stringify(body).slice(0, 500)}`,
  )
}

const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

function at(pointer: string): any {
  let value: any = document
  for (const part of pointer.split('/').slice(1))
    value = value?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
  return value
}
