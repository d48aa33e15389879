import { expect, test } from 'bun:test'
import { keyedPaths } from '../../src/dashboard/keyed-paths'
import { openapiDocument } from '../../src/hub/openapi'
import { codeWithImports, dashboardCalls } from './dashboard-calls'

interface Operation {
  operationId: string
  parameters?: (Parameter | Schema)[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
interface Parameter {
  name: string
  in: string
  required?: boolean
}
type Schema = { $ref?: string; properties?: Record<string, Schema>; anyOf?: Schema[]; oneOf?: Schema[]; items?: Schema }

const document = (await openapiDocument()) as unknown as { paths: Record<string, Record<string, Operation>>; components: object }
const calls = dashboardCalls()
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
    .map(([method, operation]) => ({
      ...operation,
      // As the calls of the dashboard: `GET /monitors/{}`.
      call: `${method.toUpperCase()} ${path.replace('/v1', '').replaceAll(/\{\w+\}/g, '{}')}`,
    })),
)
const operationOf = (call: string) => operations.find(one => one.call === call)

/** Only programs use these: jobs that ping, Prometheus, and calendars. */
const forPrograms = /^\w+ \/(?:ingest\/|monitoring\/metrics$|calendar-feeds\/\{\}\/calendar\.ics$)/

test('the dashboard calls every operation of the API', () => {
  // The rows of a list show what a request for one of them returns.
  const shown = new Set(
    operations
      .filter(one => calls.has(one.call))
      .map(one => resolved(responseOf(one))?.properties?.data?.items?.$ref ?? 'no list'),
  )
  const uncalled = operations
    .filter(one => !calls.has(one.call) && !forPrograms.test(one.call))
    .filter(one => !(one.call.startsWith('GET') && shown.has(responseOf(one)?.$ref ?? '')))
  expect(uncalled.map(one => `${one.call} ${one.operationId}`)).toEqual([])
})

test('the dashboard only calls operations of the API', () => {
  expect([...calls.keys()].filter(call => operationOf(call) === undefined)).toEqual([])
})

test('the dashboard sends an idempotency key where the API requires one', () => {
  const required = operations.filter(one =>
    resolvedParameters(one).some(({ name, required }) => name === 'Idempotency-Key' && required),
  )
  expect(keyedPaths.map(path => `POST ${path}`).toSorted()).toEqual(required.map(one => one.call).toSorted())
})

/** Fields that forms leave out, with the reason. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  // `until` does the same.
  'POST /notices/read': ['up_to'],
}

test('the forms of the dashboard send every field of the API', () => {
  const missing: Record<string, readonly string[]> = {}
  for (const { call, requestBody } of operations) {
    const media = requestBody?.content ?? {}
    // What is also accepted as a file is a document, and sent as it is.
    if (!calls.has(call) || !media['application/json'] || Object.keys(media).some(type => !type.endsWith('json'))) continue
    // A resource can be created with the required fields, and then edited.
    const files = [call, call.replace(/^POST (.*)/, 'PATCH $1/{}')].flatMap(one => [...(calls.get(one) ?? [])])
    const code = files.map(codeWithImports).join('\n')
    const names = fieldsOf(media['application/json']!.schema).filter(name => !new RegExp(`\\b${name}\\b(?!\\?:)`).test(code))
    if (names.length > 0) missing[call] = names
  }
  expect(missing).toEqual(leftOut)
})

/** What a request returns; without the variant for selected fields. */
function responseOf({ responses }: Operation): Schema | undefined {
  const schema = responses['200']?.content?.['application/json']?.schema
  return schema?.anyOf?.[0] ?? schema
}

const resolvedParameters = ({ parameters = [] }: Operation) =>
  parameters.map(one => resolved(one as Schema) as unknown as Parameter)

/** The names of all fields of a request body, of all its variants. */
function fieldsOf(schema: Schema | undefined): string[] {
  const { properties = {}, anyOf = [], oneOf = [] } = resolved(schema) ?? {}
  return [...Object.keys(properties), ...[...anyOf, ...oneOf].flatMap(fieldsOf)]
}

/** Follows a reference to its schema. */
function resolved(schema: Schema | undefined): Schema | undefined {
  if (!schema?.$ref) return schema
  const names = schema.$ref.slice(2).split('/')
  return resolved(names.reduce<any>((within, name) => within?.[name], document))
}
