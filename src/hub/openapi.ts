import { swagger } from '@elysiajs/swagger'
import { Elysia, type AnyElysia } from 'elysia'
import type { Route } from '../access/route'
import { version } from '../core/version'
import { deprecatedIn } from '../access/deprecations'
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

/** The address of a hub that nobody configured: what the printed document names when no other is given. */
export const defaultBaseUrl = 'http://localhost:8484'

/**
 * The description of the whole API, from the routes that serve it. It needs no database and no hub.
 * @param baseUrl where clients reach the hub, without a trailing slash
 */
export async function openapiDocument(baseUrl: string = defaultBaseUrl): Promise<OpenApiDocument> {
  const written = await (document ??= describeAreas([...apiAreas, ...ingestAreas]))
  return {
    ...written,
    info: { ...info, contact: { name: 'Bailiwick', url: `${baseUrl}/docs` } },
    // A variable, as in the interface: whoever reads the document elsewhere puts their own address there.
    servers: [
      {
        url: '{base_url}',
        description: 'This installation.',
        variables: { base_url: { default: baseUrl, description: 'Address under which clients reach the hub.' } },
      },
    ],
    externalDocs: { description: 'Handbook', url: `${baseUrl}/docs` },
  }
}

/** The document as the text that is served, made once for each address. */
export async function openapiText(baseUrl: string): Promise<string> {
  let text = texts.get(baseUrl)
  if (!text) texts.set(baseUrl, (text = JSON.stringify(await openapiDocument(baseUrl))))
  return text
}

type Written = Omit<OpenApiDocument, 'servers' | 'externalDocs'>

let document: Promise<Written> | null = null
const texts = new Map<string, string>()

const info = {
  title: 'Bailiwick',
  version,
  summary: 'Infrastructure management: domains, DNS, servers, certificates, monitoring and dynamic IP.',
  description:
    'The REST API of a Bailiwick installation. Requests and answers are JSON; errors are problem details (RFC 9457). ' +
    'The handbook says more about each convention.',
  license: { name: 'MIT', identifier: 'MIT' },
}

const securitySchemes: Record<string, JsonSchema> = {
  token: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'bw_live_…',
    description:
      'An API token: `Authorization: Bearer bw_live_…`. Which permission an operation needs stands in its description and in `x-permission`.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'bailiwick',
    description:
      'The session of a signed-in user, `__Host-bailiwick` over HTTPS. Writes need the header `Bailiwick-Csrf: 1` and an Origin that names this site.',
  },
}

/**
 * The description of some areas. Takes what @elysiajs/swagger collects from the routes, and finishes it: its own output is 3.0.3
 * without responses and components.
 */
export async function describeAreas(areas: readonly AnyElysia[]): Promise<Written> {
  let app: AnyElysia = new Elysia({ name: 'openapi' }).use(
    swagger({
      specPath: '/openapi.json',
      excludeStaticFile: false,
      documentation: { info, tags: [...tags] },
    }),
  )
  for (const area of areas) app = app.use(area)
  const answer = await app.handle(new Request('http://localhost/openapi.json'))
  const collected = (await answer.json()) as { paths: Record<string, Record<string, Collected>> }
  const specs = new Map(specsOf([app]).map(spec => [spec.operationId, spec]))

  const schemas = new Schemas()
  const paths: OpenApiDocument['paths'] = {}
  for (const [path, operations] of Object.entries(collected.paths)) {
    for (const [method, one] of Object.entries(operations)) {
      const spec = specs.get(one.operationId)
      // Paths at the root answer in the words of other products' clients; each has a twin under /v1/ingest that is described.
      if (!spec) continue
      paths[path] ??= {}
      paths[path][method] = operation(spec, one, schemas, exampleId(specs, spec.path))
    }
  }
  const webhooks = webhookSection(schemas)
  const anyDeprecated = [...specs.values()].some(spec => deprecatedIn(spec).length > 0)
  const used = new Set([
    ...Object.values(paths).flatMap(one => Object.values(one).flatMap(operation => operation.tags as string[])),
    'Messages',
  ])
  const components = {
    schemas: { ...schemas.components, ...problemSchemas },
    responses: problemResponses,
    parameters,
    // Told of only where something is deprecated.
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name]) => anyDeprecated || (name !== 'Deprecation' && name !== 'Sunset')),
    ),
    securitySchemes,
  }
  return { openapi: '3.1.0', info, tags: tags.filter(tag => used.has(tag.name)), paths, webhooks, components }
}

/** The identifier that stands in the example of the resource at this path. */
function exampleId(specs: Map<string, Route>, path: string): string | undefined {
  const place = path.lastIndexOf('/:')
  if (place < 0) return undefined
  const collection = path.slice(0, path.indexOf('/:'))
  for (const spec of specs.values()) {
    if (!spec.path.startsWith(collection) || !spec.answer) continue
    const id = (spec.answer.examples as { id?: string }[] | undefined)?.[0]?.id
    if (id) return id
  }
  return undefined
}
