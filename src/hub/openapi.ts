import { swagger } from '@elysiajs/swagger'
import { Elysia, type AnyElysia } from 'elysia'
import { exampleIdIn } from '../api/example-id'
import { flatMapInTurns, isTurnOver, yieldToEventLoop } from '../core/time-slices'
import { version } from '../core/version'
import { deprecatedIn } from '../api/deprecations'
import { apiAreas, ingestAreas, specsOf } from './areas'
import { headers, operation, parameters, type Collected } from './openapi-operation'
import { problemResponses, problemSchemas } from './openapi-problems'
import { Schemas, type JsonSchema } from './openapi-schema'
import { tags } from './openapi-tags'
import { webhookSection } from './openapi-webhooks'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: JsonSchema
  servers: JsonSchema[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, JsonSchema>>
  webhooks: Record<string, JsonSchema>
  components: Record<'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes', Record<string, JsonSchema>>
  externalDocs: JsonSchema
}

/** The default address of a hub, used when the document is printed without another base URL. */
const defaultBaseUrl = 'http://localhost:8484'

/**
 * Returns the description of the whole API, generated from the routes that serve it. Needs no database and no running hub.
 * @param baseUrl the URL under which clients reach the hub, without a trailing slash
 */
export async function openapiDocument(baseUrl: string = defaultBaseUrl): Promise<OpenApiDocument> {
  const shared = await (document ??= describeAll())
  return {
    ...shared,
    info: { ...info, contact: { name: 'Bailiwick', url: `${baseUrl}/docs` } },
    // A variable, so that readers of the document elsewhere can fill in their own URL.
    servers: [
      {
        url: '{base_url}',
        description: 'This installation.',
        variables: { base_url: { default: baseUrl, description: 'Base URL at which clients reach the hub.' } },
      },
    ],
    externalDocs: { description: 'Handbook', url: `${baseUrl}/docs` },
  }
}

/** The document as served. */
export async function openapiText(baseUrl: string): Promise<string> {
  const { paths, components, ...rest } = await openapiDocument(baseUrl)
  const { schemas, ...others } = components
  // The whole document at once takes 25 ms.
  const members = [
    ...Object.entries(rest).map(memberText),
    `"paths":${await objectText(paths)}`,
    `"components":{${[...Object.entries(others).map(memberText), `"schemas":${await objectText(schemas)}`].join(',')}}`,
  ]
  return `{${members.join(',')}}`
}

const memberText = ([name, value]: [string, unknown]): string => `${JSON.stringify(name)}:${JSON.stringify(value)}`

const objectText = async (object: object): Promise<string> =>
  `{${(await flatMapInTurns(Object.entries(object), one => [memberText(one)])).join(',')}}`

type SharedDocument = Omit<OpenApiDocument, 'servers' | 'externalDocs'>

let document: Promise<SharedDocument> | null = null

/** Describes the whole API; after a failure, the next request tries again. */
async function describeAll(): Promise<SharedDocument> {
  try {
    return await describeAreas([...apiAreas, ...ingestAreas])
  } catch (error) {
    document = null
    throw error
  }
}

const info = {
  title: 'Bailiwick',
  version,
  summary: 'Infrastructure management: DNS, monitoring, incidents, notifications, and webhooks.',
  description:
    'The REST API of a Bailiwick installation. Requests and responses are JSON. Errors are problem details (RFC 9457). ' +
    'The handbook explains conventions such as pagination, idempotency, and rate limits. A hub is a Bailiwick server; an ' +
    'installation has one or more. An operator is a user who administers the installation. A workspace owns all resources of one customer or ' +
    'team; its plan sets its limits.',
  license: { name: 'MIT', identifier: 'MIT' },
}

const securitySchemes: Record<string, JsonSchema> = {
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'bw_live_…',
    description:
      'An API token: `Authorization: Bearer bw_live_…`. The permission an operation requires is in its description and in `x-permission`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'bailiwick',
    description:
      'The session cookie of a signed-in user, named `__Host-bailiwick` over HTTPS. Write requests also need the `Bailiwick-Csrf: 1` header and an `Origin` header that matches the hub.',
  },
}

/**
 * Describes areas of the API. Completes what @elysiajs/swagger collects from the routes, because its own output is OpenAPI 3.0.3
 * without responses and components. Yields to the event loop, because it takes half a second in total.
 */
export async function describeAreas(areas: readonly AnyElysia[]): Promise<SharedDocument> {
  const specs = specsOf(areas)
  const byId = new Map(specs.map(spec => [spec.operationId, spec]))
  const schemas = new Schemas()
  const paths: OpenApiDocument['paths'] = {}
  for (const area of areas) {
    const found = await collected(area)
    await yieldToEventLoop()
    for (const [path, operations] of Object.entries(found)) {
      for (const [method, one] of Object.entries(operations)) {
        const spec = byId.get(one.operationId)
        // Paths at the root follow the conventions of other products; each has a documented twin under /v1/ingest.
        if (!spec) continue
        paths[path] ??= {}
        paths[path][method] = operation(spec, one, schemas, exampleIdIn(specs, spec.path))
        if (isTurnOver()) await yieldToEventLoop()
      }
    }
  }
  const webhooks = webhookSection(schemas)
  const anyDeprecated = specs.some(spec => deprecatedIn(spec).length > 0)
  const used = new Set([
    ...Object.values(paths).flatMap(one => Object.values(one).flatMap(operation => operation.tags as string[])),
    'Messages',
  ])
  const components = {
    schemas: { ...schemas.components, ...problemSchemas },
    responses: problemResponses,
    parameters: { ...parameters, ...schemas.parameters },
    // Described only if something is deprecated.
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => anyDeprecated || (name !== 'Deprecation' && name !== 'Sunset')),
    ),
    securitySchemes,
  }
  return { openapi: '3.1.0', info, tags: tags.filter(tag => used.has(tag.name)), paths, webhooks, components }
}

/** What @elysiajs/swagger collects from the routes of an area. */
async function collected(area: AnyElysia): Promise<Record<string, Record<string, Collected>>> {
  const app = new Elysia({ name: 'openapi' })
    .use(swagger({ specPath: '/openapi.json', excludeStaticFile: false, documentation: { info, tags: [...tags] } }))
    .use(area)
  const response = await app.handle(new Request('http://localhost/openapi.json'))
  return ((await response.json()) as { paths: Record<string, Record<string, Collected>> }).paths
}
