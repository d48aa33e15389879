import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { openapiDocument } from '../../src/hub/openapi'

const document = await openapiDocument()
const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
// The whole document is the root that its references are resolved against; itself it is no schema.
ajv.addSchema(document, 'openapi.json', undefined, false)
const checks = new Map<string, ValidateFunction>()

/**
 * Holds an answer against the OpenAPI document: the operation, the status, the content type, the headers and the body must be in it.
 * @param body the parsed JSON, undefined when the answer is not JSON
 * @throws Error that says what differs
 */
export function checkAnswer(method: string, path: string, answer: Response, body: unknown): void {
  const where = `${method} ${path} answered ${answer.status}`
  const pathname = path.split('?')[0]!
  const operation = operationAt(method, pathname)
  if (!operation) {
    if (answer.status >= 400 && body !== undefined) return checkBody(where, '#/components/schemas/Problem', body)
    if (pathname.startsWith('/v1/') && pathname !== '/v1/openapi.json' && method !== 'HEAD')
      throw new Error(`${where}, but the document has no such operation.`)
    return
  }
  const pointer = `${operation}/responses/${answer.status}`
  const response = at(pointer)
  if (!response)
    throw new Error(
      `${where}, a status that the document does not have (it has ${Object.keys(at(`${operation}/responses`)).join(', ')}).`,
    )
  const documented = response.$ref ? at(response.$ref.slice(1)) : response
  const real = response.$ref ? response.$ref.slice(1) : pointer
  for (const [name, told] of Object.entries<{ $ref: string }>(documented.headers ?? {})) {
    if (at(told.$ref.slice(1)).required && !answer.headers.has(name)) throw new Error(`${where} without the header ${name}.`)
  }
  const type = answer.headers.get('content-type')?.split(';')[0] ?? null
  if (!documented.content) {
    if (body !== undefined) throw new Error(`${where} with a body, where the document has none.`)
    return
  }
  if (!type || !documented.content[type])
    throw new Error(`${where} as ${type}; the document says ${Object.keys(documented.content).join(' or ')}.`)
  if (body === undefined) return
  const schema = `${real}/content/${escaped(type)}/schema`
  const fields = answer.status === 200 ? new URLSearchParams(path.split('?')[1]).get('fields') : null
  if (fields === null) checkBody(where, `#${schema}`, body)
  else checkFields(where, schema, fields.split(','), body)
}

/**
 * Holds an answer to a request with `fields` against the document: its resources have the members that were asked for, with `id` and
 * what was expanded, and no other; each is as the document says. The document itself says that the others are missing.
 */
function checkFields(where: string, pointer: string, fields: string[], body: unknown): void {
  const answer = resolved(at(pointer))
  const resource = resolved(answer.properties.data?.items ?? answer)
  const members = Object.entries(resource.properties).filter(([name]) => [...fields, 'id', 'expanded'].includes(name))
  const reduced = {
    ...resource,
    properties: Object.fromEntries(members),
    required: members.map(([name]) => name).filter(name => name !== 'expanded'),
  }
  const whole =
    answer === resource ? reduced : { ...answer, properties: { ...answer.properties, data: { type: 'array', items: reduced } } }
  const check = ajv.compile(absolute(whole))
  if (!check(body)) throw new Error(`${where}, and the body does not fit its fields: ${ajv.errorsText(check.errors)}`)
}

const resolved = (schema: any): any => (schema.$ref ? at(schema.$ref.slice(1)) : schema)

/** The schema with its references leading into the document from outside. */
const absolute = (schema: object): object =>
  JSON.parse(JSON.stringify(schema), (key, value) => (key === '$ref' ? `openapi.json${value}` : value))

/** Pointer to the operation that serves a path, or null. A path without parameters goes before one with. */
function operationAt(method: string, pathname: string): string | null {
  const parts = pathname.split('/')
  const fits = Object.keys(document.paths)
    .filter(template => {
      const wanted = template.split('/')
      return (
        wanted.length === parts.length &&
        wanted.every((part, place) => (part.startsWith('{') ? parts[place] !== '' : part === parts[place]))
      )
    })
    .sort((a, b) => a.split('{').length - b.split('{').length)
  const template = fits.find(one => document.paths[one]![method.toLowerCase()])
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
    `${where}, and the body does not fit ${decodeURIComponent(pointer)}:\n${wrong.join('\n')}\n  body: ${JSON.stringify(body).slice(0, 500)}`,
  )
}

const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))

function at(pointer: string): any {
  let value: any = document
  for (const part of pointer.split('/').slice(1))
    value = value?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
  return value
}
